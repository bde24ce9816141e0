/** Small projects of the kinds that people have, with the packed packages: each uploads, downloads, lists, opens a shared vault and verifies a webhook. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { plainEnvironment } from "../kit/packed.ts";
import { PATIENCE_MS, projectsOfFile } from "../kit/projects-here.ts";
import { NODES, nodeProgram } from "../shipped/nodes.ts";

const execute = promisify(execFile);
/** ES modules run on both in every run. */
const CHOSEN = process.env["COFFER_TEST_COUNTS"] === "full" ? NODES : (["oldest"] as const);
const { install, run } = projectsOfFile();

describe.each(["node-esm", "commonjs"])("a project of the kind %s", (kind) => {
  it(
    "works on the oldest and the newest Node",
    async (context) => {
      const directory = await install(context, kind);
      for (const which of kind === "commonjs" ? CHOSEN : NODES)
        expect(await run(nodeProgram(which), directory, ["main.js"])).toBe("done");
    },
    PATIENCE_MS,
  );
});

it(
  "a project in TypeScript compiles with the oldest and the newest compiler, and works as CommonJS",
  async (context) => {
    const directory = await install(context, "typescript");
    for (const which of ["oldest", "newest"] as const) {
      const { stdout } = await execute(process.execPath, [`node_modules/typescript-${which}/bin/tsc`, "-p", "."], {
        cwd: directory,
        env: plainEnvironment(),
      }).catch((error: unknown) => ({ stdout: (error as { readonly stdout: string }).stdout }));
      expect(stdout).toBe("");
      expect(await run(nodeProgram(which), directory, ["out/main.js"])).toBe("done");
    }
  },
  PATIENCE_MS,
);

it(
  "gives `require` the same values as `import`, for every entry of every package",
  async (context) => {
    const directory = await install(context, "commonjs", ["msw@3"]);
    writeFileSync(join(directory, "entries.js"), ENTRIES);
    for (const which of CHOSEN) {
      const entries = JSON.parse(await run(nodeProgram(which), directory, ["entries.js"])) as Record<string, string[]>;
      expect(Object.keys(entries).length).toBeGreaterThanOrEqual(12);
      expect(Object.entries(entries).filter(([, differing]) => differing.length > 0)).toEqual([]);
    }
  },
  PATIENCE_MS,
);

/** Prints by entry the names whose values differ. */
const ENTRIES = `
const { readdirSync, readFileSync } = require("node:fs");
(async () => {
  const differing = {};
  for (const name of readdirSync("node_modules/@coffer")) {
    const { exports } = JSON.parse(readFileSync("node_modules/@coffer/" + name + "/package.json", "utf8"));
    for (const entry of Object.keys(exports).filter((each) => !each.includes("*") && !each.endsWith(".json"))) {
      const id = "@coffer/" + name + entry.slice(1);
      const [required, imported] = [require(id), await import(id)];
      const names = new Set([...Object.keys(required), ...Object.keys(imported)].filter((each) => each !== "default"));
      differing[id] = [...names].filter((each) => each !== "module.exports" && required[each] !== imported[each]);
    }
  }
  console.log(JSON.stringify(differing));
})();
`;
