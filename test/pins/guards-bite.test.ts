import path from "node:path";
import { describe, expect, test } from "vitest";
import { manifest, runFloors, runLint, seedTree } from "./seeded-tree.ts";
import { examineTopology } from "./topology.ts";

interface Seed {
  readonly guard: string;
  readonly file: string;
  readonly text: string;
  /** What the guard says about it. */
  readonly says: string;
}

const TOPOLOGY_SEEDS: readonly Seed[] = [
  {
    guard: "an upward dependency",
    file: "packages/contract/package.json",
    text: manifest("@coffer/contract", { zod: "1", "@coffer/sdk": "1" }),
    says: "@coffer/contract: depends on @coffer/sdk, which its floor does not allow",
  },
  {
    guard: "a package that is new to a closed list",
    file: "packages/contract/package.json",
    text: manifest("@coffer/contract", { zod: "1", ky: "1" }),
    says: "@coffer/contract: depends on ky, which it must not",
  },
  {
    guard: "a server that could decrypt",
    file: "server/package.json",
    text: manifest("@coffer/server", { "@coffer/contract": "1", fastify: "1", kysely: "1", "@coffer/crypto": "1" }),
    says: "@coffer/server: depends on @coffer/crypto, which its floor does not allow",
  },
  {
    guard: "a workspace without a floor",
    file: "packages/extra/package.json",
    text: manifest("@coffer/extra", {}),
    says: "@coffer/extra: has no floor in test/pins/floors.ts",
  },
  {
    guard: "an upward import",
    file: "packages/contract/src/up.ts",
    text: 'export * from "@coffer/sdk";\n',
    says: "packages/contract/src/up.ts: imports @coffer/sdk, which @coffer/contract does not declare",
  },
  {
    guard: "an undeclared dependency",
    file: "packages/sdk/src/extra.ts",
    text: 'import ky from "ky";\nexport default ky;\n',
    says: "packages/sdk/src/extra.ts: imports ky, which @coffer/sdk does not declare",
  },
  {
    guard: "an undeclared dependency, imported dynamically",
    file: "packages/sdk/src/extra.ts",
    text: 'export const later = () => import("ky");\n',
    says: "packages/sdk/src/extra.ts: imports ky, which @coffer/sdk does not declare",
  },
  {
    guard: "an undeclared dependency, imported as a type",
    file: "packages/sdk/src/extra.ts",
    text: 'export type Ky = import("ky").KyInstance;\n',
    says: "packages/sdk/src/extra.ts: imports ky, which @coffer/sdk does not declare",
  },
  {
    guard: "a relative path into another package",
    file: "packages/sdk/src/escape.ts",
    text: 'export * from "../../contract/src/index.ts";\n',
    says: "packages/sdk/src/escape.ts: the relative import ../../contract/src/index.ts leaves its package",
  },
  {
    guard: "a relative path from the tests into a package",
    file: "test/escape.test.ts",
    text: 'import "../packages/sdk/src/index.ts";\n',
    says: "test/escape.test.ts: the relative import ../packages/sdk/src/index.ts leaves its package",
  },
  {
    guard: "process.env",
    file: "server/src/app.ts",
    text: "export const app = process.env.PORT;\n",
    says: "server/src/app.ts: reads process.env",
  },
  {
    guard: 'process["env"]',
    file: "packages/sdk/src/one.ts",
    text: 'export const one = globalThis.process["env"];\n',
    says: "packages/sdk/src/one.ts: reads process.env",
  },
  {
    guard: "a destructured environment",
    file: "server/src/app.ts",
    text: "export const { env: app } = process;\n",
    says: "server/src/app.ts: reads process.env",
  },
  {
    guard: "an imported environment",
    file: "server/src/app.ts",
    text: 'import { env } from "node:process";\nexport const app = env;\n',
    says: "server/src/app.ts: reads process.env",
  },
  {
    guard: "fastify in a feature",
    file: "server/src/features/things/handlers.ts",
    text: 'import type { FastifyRequest } from "fastify";\nexport type Things = FastifyRequest;\n',
    says: "server/src/features/things/handlers.ts: imports fastify (fastify only in app.ts and http/)",
  },
  {
    guard: "SQL in a handler",
    file: "server/src/features/things/handlers.ts",
    text: 'import { sql } from "kysely";\nexport const things = sql;\n',
    says: "server/src/features/things/handlers.ts: imports kysely (SQL only in stores, migrations and the database driver)",
  },
  {
    guard: "a vendor outside drivers",
    file: "server/src/features/things/store.ts",
    text: 'import { DatabaseSync } from "node:sqlite";\nexport const row = DatabaseSync;\n',
    says: "server/src/features/things/store.ts: imports node:sqlite (vendor SDKs only in drivers/)",
  },
  {
    guard: "two feature folders that need each other",
    file: "server/src/features/other/store.ts",
    text: 'export type { things } from "../things/handlers.ts";\n',
    says: "server/src/features/other/store.ts: imports things, and feature folders lead back from there to other",
  },
  {
    guard: "Node in what the SDK's root entry reaches",
    file: "packages/sdk/src/one.ts",
    text: 'import { readFileSync } from "node:fs";\nexport const one = readFileSync;\n',
    says: "packages/sdk/src/one.ts: imports node:fs, and packages/sdk/src/index.ts reaches it",
  },
];

describe("the topology test goes red for", () => {
  test("nothing in a sound tree", () => {
    using tree = seedTree();
    expect(examineTopology(tree.root).violations).toEqual([]);
  });

  test.each(TOPOLOGY_SEEDS)("$guard", ({ file, text, says }) => {
    using tree = seedTree();
    tree.write(file, text);
    expect(examineTopology(tree.root).violations).toContain(says);
  });
});

const FLOOR_SEEDS: readonly Seed[] = [
  {
    guard: "a cycle",
    file: "server/src/features/things/store.ts",
    text: 'import { things } from "./handlers.ts";\nexport const row = () => things;\n',
    says: "no-cycle: server/src/features/things/handlers.ts",
  },
  {
    guard: "a cycle of types",
    file: "server/src/features/things/store.ts",
    text: 'import type { things } from "./handlers.ts";\nexport const row = (): typeof things | null => null;\n',
    says: "no-cycle: server/src/features/things/handlers.ts",
  },
  {
    guard: "a deep import past a package's exports",
    file: "packages/sdk/src/one.ts",
    text: 'import { Name } from "@coffer/contract/src/index.ts";\nexport const one = Name;\n',
    says: "resolvable: packages/sdk/src/one.ts → @coffer/contract/src/index.ts",
  },
  {
    guard: "a driver that knows a feature",
    file: "server/src/drivers/blobs/disk.ts",
    text: 'import { row } from "../../features/things/store.ts";\nexport const disk = row;\n',
    says: "drivers-know-only-ports: server/src/drivers/blobs/disk.ts",
  },
  {
    guard: "a feature that knows a driver",
    file: "server/src/features/things/handlers.ts",
    text: 'import { disk } from "../../drivers/blobs/disk.ts";\nexport const things = disk;\n',
    says: "features-know-no-driver: server/src/features/things/handlers.ts",
  },
  {
    guard: "a second door to storage",
    file: "server/src/app.ts",
    text: 'import { disk } from "./drivers/blobs/disk.ts";\nexport const app = disk;\n',
    says: "one-door-to-storage: server/src/app.ts",
  },
  {
    guard: "a test that opens a driver by itself",
    file: "server/src/features/things/handlers.test.ts",
    text: 'import { disk } from "../../drivers/blobs/disk.ts";\nexport const things = disk;\n',
    says: "one-door-to-storage: server/src/features/things/handlers.test.ts",
  },
  {
    guard: "a feature that knows HTTP",
    file: "server/src/features/things/handlers.ts",
    text: 'import type { Call } from "../../http/call.ts";\nexport const things = {} as Call;\n',
    says: "features-know-no-http: server/src/features/things/handlers.ts",
  },
  {
    guard: "rules that know a store",
    file: "server/src/features/things/price-rules.ts",
    text: 'import { row } from "./store.ts";\nexport const price = row;\n',
    says: "rules-are-pure: server/src/features/things/price-rules.ts",
  },
  {
    guard: "rules that know one of several stores",
    file: "server/src/features/things/rules.ts",
    text: 'export * from "./old-store.ts";\n',
    says: "rules-are-pure: server/src/features/things/rules.ts",
  },
  {
    guard: "rules that know a job's store",
    file: "server/src/features/things/rules.ts",
    text: 'export * from "../../jobs/store.ts";\n',
    says: "rules-are-pure: server/src/features/things/rules.ts",
  },
  {
    guard: "a store that knows a handler",
    file: "server/src/features/things/old-store.ts",
    text: 'export * from "./handlers.ts";\n',
    says: "stores-know-no-http: server/src/features/things/old-store.ts",
  },
  {
    guard: "a job's store that knows HTTP",
    file: "server/src/jobs/store.ts",
    text: 'export * from "../http/call.ts";\n',
    says: "stores-know-no-http: server/src/jobs/store.ts",
  },
  {
    guard: "the SDK's root reaching its Node entry",
    file: "packages/sdk/src/one.ts",
    text: 'import { read } from "./node/index.ts";\nexport const one = read;\n',
    says: "sdk-root-is-runtime-neutral: packages/sdk/src/one.ts",
  },
  {
    guard: "a source that imports a test",
    file: "packages/sdk/src/one.ts",
    text: 'export const one = () => import("./one.test.ts");\n',
    says: "no-test-in-source: packages/sdk/src/one.ts",
  },
];

describe("check:floors goes red for", () => {
  test("nothing in a sound tree", async () => {
    using tree = seedTree();
    const verdict = await runFloors(tree);
    expect(verdict.output).toContain(" 0 violations");
    expect(verdict.code).toBe(0);
  });

  test.each(FLOOR_SEEDS)("$guard", async ({ file, text, says }) => {
    using tree = seedTree();
    tree.write("packages/sdk/src/one.test.ts", "export {};\n");
    tree.write(file, text);
    const verdict = await runFloors(tree);
    expect(verdict.output).toContain(says);
    expect(verdict.code).toBe(1);
  });

  test("files that were not read", async () => {
    using tree = seedTree();
    tree.write(".dependency-cruiser.cjs", 'module.exports = { forbidden: [], options: { exclude: "^server/" } };\n');
    const verdict = await runFloors(tree);
    expect(verdict.output).toContain("not read: server/src/app.ts");
    expect(verdict.code).toBe(1);
  });

  test("modules that were read without their imports", async () => {
    using tree = seedTree();
    tree.write(
      ".dependency-cruiser.cjs",
      'module.exports = { forbidden: [], options: { includeOnly: "src/[a-z]+\\\\.ts$", exclude: "one" } };\n',
    );
    const verdict = await runFloors(tree);
    expect(verdict.output).toContain("too few modules");
    expect(verdict.code).toBe(1);
  });
});

const LINT_SEEDS: readonly Seed[] = [
  {
    guard: "a forgotten await in a test",
    file: "packages/sdk/src/one.test.ts",
    text: 'import { expect, test } from "vitest";\ntest("x", () => { expect(Promise.resolve(1)).resolves.toBe(2); });\n',
    says: "@typescript-eslint/no-floating-promises",
  },
  {
    guard: "a test that is switched off",
    file: "packages/sdk/src/switched-off.test.ts",
    text: 'import { test } from "vitest";\ntest.skip("x", () => undefined);\n',
    says: "no-restricted-syntax",
  },
  {
    guard: "any",
    file: "packages/sdk/src/any.ts",
    text: "export const one = (value: any): string => String(value);\n",
    says: "@typescript-eslint/no-explicit-any",
  },
  {
    guard: "a rule that is switched off inline",
    file: "packages/sdk/src/inline.ts",
    text: "// eslint-disable-next-line\nexport const one = (value: any): string => String(value);\n",
    says: "@typescript-eslint/no-explicit-any",
  },
  {
    guard: "@ts-ignore",
    file: "packages/sdk/src/ignored.ts",
    text: "// @ts-ignore\nexport const one: string = 1;\n",
    says: "@typescript-eslint/ban-ts-comment",
  },
  {
    guard: "classic zod",
    file: "packages/contract/src/index.ts",
    text: 'import { z } from "zod";\nexport const Name = z.string();\n',
    says: "no-restricted-imports",
  },
];

describe("lint goes red for", () => {
  // One run over all of them: reading the compiler's libraries is what takes the time.
  const reports = lintSeeds();

  test("nothing in a sound file", async () => {
    expect((await reports).get("packages/sdk/src/node/index.ts")).toEqual([]);
  });

  test.each(LINT_SEEDS)("$guard", async ({ file, says }) => {
    expect((await reports).get(file)).toContain(says);
  });
});

/** The rules that complain about each file of a tree with every lint seed in it. */
async function lintSeeds(): Promise<Map<string, string[]>> {
  using tree = seedTree();
  for (const { file, text } of LINT_SEEDS) tree.write(file, text);
  const { code, output } = await runLint(tree, ["packages/sdk/src", "packages/contract/src"]);
  expect(code).toBe(1);
  const results = JSON.parse(output) as { filePath: string; messages: { ruleId: string | null; severity: number }[] }[];
  return new Map(
    results.map(({ filePath, messages }) => [
      path.relative(tree.root, filePath),
      messages.filter(({ severity }) => severity === 2).map(({ ruleId }) => String(ruleId)),
    ]),
  );
}
