import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const MANIFEST = new URL("../../server/package.json", import.meta.url);

// That it imports nothing which it does not declare, and no package above its floor, is dependency-cruiser's (`npm run check:floors`).
test("the server depends on nothing that can decrypt [S2]", () => {
  const manifest = JSON.parse(readFileSync(MANIFEST, "utf8")) as Readonly<Record<string, Record<string, string>>>;
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest;
  const names = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies, ...optionalDependencies });
  expect(names.filter((name) => name.startsWith("@coffer/"))).toEqual(["@coffer/contract"]);
  expect(names).not.toContain("@mysten/seal");
});
