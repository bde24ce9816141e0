/** Projects of this folder, each in a folder of its own with the packed packages. */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { fetchWithNpm, packInto, PUBLISHED, tarballsIn } from "../kit/packed.ts";

/** A copy of the project with what its lock file names, and the packed packages. Skips the test if a package cannot be had. */
export async function installProject(context: TestContext, kind: string): Promise<string> {
  const packed = makeDirectory();
  await packInto(packed, PUBLISHED);
  const directory = join(makeDirectory(), kind);
  cpSync(join(import.meta.dirname, kind), directory, { recursive: true });
  if (existsSync(join(directory, "package-lock.json")))
    await fetchWithNpm(context, ["ci", "--ignore-scripts"], directory);
  const words = ["install", "--ignore-scripts", "--no-save", "--no-package-lock"];
  await fetchWithNpm(context, [...words, ...tarballsIn(packed, PUBLISHED)], directory);
  return directory;
}
