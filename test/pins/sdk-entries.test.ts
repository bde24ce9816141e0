import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const SDK = join(import.meta.dirname, "../../packages/sdk");

it("the SDK's README lists every entry that the package has, and what is optional [issue 53]", () => {
  const readme = readFileSync(join(SDK, "README.md"), "utf8");
  const listed = [...readme.matchAll(/^\| `@coffer\/sdk(\S*)`/gm)];
  const { exports, peerDependencies } = JSON.parse(readFileSync(join(SDK, "package.json"), "utf8")) as {
    readonly exports: object;
    readonly peerDependencies: object;
  };
  const entries = Object.keys(exports).filter((entry) => !entry.endsWith(".json"));
  expect(entries.length).toBeGreaterThan(5);
  expect(listed.map(([, entry = ""]) => `.${entry}`).toSorted()).toEqual(entries.toSorted());
  expect(Object.keys(peerDependencies).filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});
