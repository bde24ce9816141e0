import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ALLOWED_WORKSPACES, RUNTIME_NEUTRAL_ENTRIES } from "./floors.ts";
import { examineTopology } from "./topology.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const topology = examineTopology(ROOT);

test("every package depends and imports downwards, by what it declares", () => {
  expect(topology.violations).toEqual([]);
});

test("every workspace was read, and none of them was empty", () => {
  const names = topology.workspaces.map((workspace) => workspace.name);
  expect(names).toEqual(
    expect.arrayContaining(
      ["contract", "sdk", "tasks", "mcp", "cli", "server", "devstack"].map((name) => `@coffer/${name}`),
    ),
  );
  for (const name of names) {
    const files = topology.files.filter((file) => file.workspace.name === name && file.imports.length > 0);
    expect(files.length, `files of ${name} with an import`).toBeGreaterThan(0);
  }
});

test("the server's floor leaves out everything that can decrypt", () => {
  expect(ALLOWED_WORKSPACES["@coffer/server"]).toEqual(["@coffer/contract"]);
});

test("the runtime-neutral entries of the packages that exist are there", () => {
  for (const entry of RUNTIME_NEUTRAL_ENTRIES) {
    const directory = entry.split("/").slice(0, 2).join("/");
    expect(existsSync(path.join(ROOT, entry)), entry).toBe(existsSync(path.join(ROOT, directory)));
  }
});
