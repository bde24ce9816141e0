import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../..");
const CONFIGURATION = [".dependency-cruiser.cjs", "eslint.config.js", "tsconfig.json"];

/** A small repository in which every guard is content, for a test to seed one violation into. */
export interface SeededTree extends Disposable {
  readonly root: string;
  write(file: string, text: string): void;
}

const SOUND: Readonly<Record<string, string>> = {
  "package.json": manifest("coffer", {}, { vitest: "1" }),
  "packages/contract/package.json": manifest("@coffer/contract", { zod: "1" }),
  "packages/contract/src/index.ts": 'import * as z from "zod/mini";\nexport const Name = z.string();\n',
  "packages/sdk/package.json": manifest("@coffer/sdk", { "@coffer/contract": "1" }),
  "packages/sdk/src/index.ts": 'export { one } from "./one.ts";\n',
  "packages/sdk/src/one.ts": 'import { Name } from "@coffer/contract";\nexport const one = Name;\n',
  "packages/sdk/src/node/index.ts": 'import { readFileSync } from "node:fs";\nexport const read = readFileSync;\n',
  "server/package.json": manifest("@coffer/server", { "@coffer/contract": "1", fastify: "1", kysely: "1" }),
  "server/src/app.ts": 'import { things } from "./features/things/handlers.ts";\nexport const app = things;\n',
  "server/src/config.ts": "export const port = process.env.PORT;\n",
  "server/src/features/things/handlers.ts": 'import { row } from "./store.ts";\nexport const things = row;\n',
  "server/src/features/things/store.ts": 'import { sql } from "kysely";\nexport const row = sql;\n',
  "server/src/features/things/names.ts": 'export { name } from "../other/names.ts";\n',
  "server/src/features/other/names.ts": 'export const name = "other";\n',
  "server/src/features/things/old-store.ts": 'export { row } from "./store.ts";\n',
  "server/src/jobs/store.ts": "export const left = 0;\n",
  "server/src/http/call.ts": "export class Call {}\n",
  "server/src/drivers/blobs/disk.ts": 'import { open } from "node:fs/promises";\nexport const disk = open;\n',
};

export function seedTree(): SeededTree {
  const root = mkdtempSync(path.join(tmpdir(), "coffer-guards-"));
  const write = (file: string, text: string): void => {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  };
  for (const file of CONFIGURATION) cpSync(path.join(ROOT, file), path.join(root, file));
  symlinkSync(path.join(ROOT, "node_modules"), path.join(root, "node_modules"));
  for (const [file, text] of Object.entries(SOUND)) write(file, text);
  return { root, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

export function manifest(name: string, dependencies: Record<string, string>, devDependencies = {}): string {
  return JSON.stringify({ name, type: "module", dependencies, devDependencies });
}

export interface Verdict {
  readonly code: number;
  readonly output: string;
}

/** `npm run check:floors` on the tree. */
export function runFloors(tree: SeededTree): Promise<Verdict> {
  return runNode([path.join(ROOT, "scripts/check-floors.ts"), "--root", tree.root], tree.root);
}

/** `npm run lint` on directories of the tree; the output is ESLint's JSON. */
export function runLint(tree: SeededTree, directories: readonly string[]): Promise<Verdict> {
  const eslint = path.join(ROOT, "node_modules/eslint/bin/eslint.js");
  return runNode([eslint, "--format", "json", ...directories], tree.root);
}

function runNode(args: readonly string[], cwd: string): Promise<Verdict> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : 1, output: stdout + stderr });
    });
  });
}
