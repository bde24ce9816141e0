/** Small projects of the kinds that people have, with the packed packages: each uploads, downloads, lists, opens a shared vault and verifies a webhook. */
import { execFile } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startStack, type Stack } from "@coffer/devstack";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { fetchWithNpm, packInto, plainEnvironment, PUBLISHED, tarballsIn } from "../kit/packed.ts";
import { NODES, nodeProgram } from "../shipped/nodes.ts";

const execute = promisify(execFile);
const PATIENCE_MS = 300_000;
let packed: string;
let stack: Stack;

beforeAll(async () => {
  packed = makeDirectory();
  await packInto(packed, PUBLISHED);
  stack = await startStack();
}, PATIENCE_MS);

afterAll(() => stack.close());

/** A copy of the project with what it needs installed. */
async function install(context: TestContext, kind: string, more: readonly string[] = []): Promise<string> {
  const directory = join(makeDirectory(), kind);
  cpSync(join(import.meta.dirname, kind), directory, { recursive: true });
  const tools = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { devDependencies?: object };
  if (tools.devDependencies !== undefined) await fetchWithNpm(context, ["ci", "--ignore-scripts"], directory);
  const words = ["install", "--ignore-scripts", "--no-save", "--no-package-lock"];
  await fetchWithNpm(context, [...words, ...tarballsIn(packed, PUBLISHED), ...more], directory);
  return directory;
}

/**
 * What the program prints. It runs without what tests preload into every program: with `--import`, Node 22.18 loads CommonJS in
 * another way, in which `require` of an ES module with chunks fails.
 */
async function run(node: string, cwd: string, words: readonly string[]): Promise<string> {
  const settings = {
    SERVICE_CONFIG_FILE: stack.credentialsFile,
    SERVICE_CONFIG_DIR: join(makeDirectory(), "settings"),
  };
  const { stdout } = await execute("env", ["-u", "NODE_OPTIONS", node, ...words], {
    cwd,
    env: { ...plainEnvironment(), ...settings },
  });
  return stdout.trim();
}

describe.each(["node-esm", "commonjs"])("a project of the kind %s", (kind) => {
  it(
    "works on the oldest and the newest Node",
    async (context) => {
      const directory = await install(context, kind);
      for (const which of NODES) expect(await run(nodeProgram(which), directory, ["main.js"])).toBe("done");
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
    for (const which of NODES) {
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
