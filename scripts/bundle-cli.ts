/**
 * `npm run bundle:cli`: packs the command line, and the Node that runs this, as one file that needs nothing beside it:
 * `packages/cli/executable/coffer-PLATFORM-ARCH`. By Node's own single executable applications, for the platform that this runs on.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { readFile } from "node:fs/promises";
import { build } from "esbuild";
import { CLI_PEER_MODULES, installPeers } from "./peers.ts";

/** Which Node looks for, and the mark in its program that says whether there is one. */
const RESOURCE = "NODE_SEA_BLOB";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

interface Postject {
  readonly inject: (file: string, resource: string, data: Buffer, options: object) => Promise<void>;
}

const SOURCE = path.join(import.meta.dirname, "..", "packages", "cli", "src");
const DIRECTORY = path.join(SOURCE, "..", "executable");
const ending = process.platform === "win32" ? ".exe" : "";
const file = path.join(DIRECTORY, `coffer-${process.platform}-${process.arch}${ending}`);

const scratch = mkdtempSync(path.join(tmpdir(), "coffer-executable-"));
try {
  await installPeers("cli");
  await writeProgram(path.join(scratch, "coffer.cjs"));
  const configuration = {
    main: path.join(scratch, "coffer.cjs"),
    output: path.join(scratch, "coffer.blob"),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    // Node's own options in the environment are for programs of Node.
    execArgvExtension: "none",
  };
  writeFileSync(path.join(scratch, "sea.json"), JSON.stringify(configuration));
  execFileSync(process.execPath, ["--experimental-sea-config", path.join(scratch, "sea.json")], { stdio: "ignore" });
  mkdirSync(DIRECTORY, { recursive: true });
  const unfinished = path.join(DIRECTORY, `.unfinished-${String(process.pid)}`);
  copyFileSync(process.execPath, unfinished);
  chmodSync(unfinished, 0o755);
  const { inject } = createRequire(import.meta.url)(path.join(CLI_PEER_MODULES, "postject")) as Postject;
  await inject(unfinished, RESOURCE, await readFile(configuration.output), {
    sentinelFuse: FUSE,
    ...(process.platform === "darwin" ? { machoSegmentName: "NODE_SEA" } : {}),
  });
  renameSync(unfinished, file);
  const said = execFileSync(file, ["version"], { encoding: "utf8" }).trim();
  console.log(`${file}: ${String(Math.round(statSync(file).size / 1024 ** 2))} MiB, ${said}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** One CommonJS file: Node takes nothing else, and loads nothing from beside it. */
async function writeProgram(outfile: string): Promise<void> {
  await build({
    ...{ outfile, bundle: true, minify: true, format: "cjs", platform: "node", target: "node24", logLevel: "error" },
    conditions: ["coffer-source"],
    // Some packages have modules that call a `require` of their own beside those that import.
    mainFields: ["module", "main"],
    stdin: { contents: 'void import("./process.ts");', resolveDir: SOURCE, loader: "ts" },
    // Some code looks for files beside itself. It finds none here, and works without them.
    define: { "import.meta.url": "__place" },
    banner: { js: 'const __place = require("node:url").pathToFileURL(process.execPath).href;' },
  });
}
