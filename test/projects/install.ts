/** Projects of this folder, each in a folder of its own with the packed packages. */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { fetchWithNpm, packInto, PUBLISHED, tarballsIn } from "../kit/packed.ts";

export interface InstallOptions {
  /** Where the packages are packed already. Default: they are packed for this project. */
  readonly packed?: string;
  /** Further packages from the registry. */
  readonly more?: readonly string[];
  /** Adds files to the copy before anything is installed. */
  readonly prepare?: (directory: string) => void;
}

/** A copy of the project with what its lock file names, and the packed packages. Skips the test if a package cannot be had. */
export async function installProject(
  context: TestContext,
  kind: string,
  { packed, more = [], prepare }: InstallOptions = {},
): Promise<string> {
  const tarballs = packed ?? makeDirectory();
  if (packed === undefined) await packInto(tarballs, PUBLISHED);
  const directory = join(makeDirectory(), kind);
  cpSync(join(import.meta.dirname, kind), directory, { recursive: true });
  prepare?.(directory);
  if (existsSync(join(directory, "package-lock.json")))
    await fetchWithNpm(context, ["ci", "--ignore-scripts"], directory);
  const words = ["install", "--ignore-scripts", "--no-save", "--no-package-lock"];
  await fetchWithNpm(context, [...words, ...tarballsIn(tarballs, PUBLISHED), ...more], directory);
  return directory;
}
