/** Paths of this machine, as a person names them. */
import { foldersOfPerson, type AllowedFolders } from "@coffer/tasks";
import { resolve } from "node:path";
import { usage } from "../../failure.ts";
import type { World } from "../../world.ts";

export interface LocalPaths {
  /** Absolute, in the order given. */
  readonly paths: readonly string[];
  readonly allowed: AllowedFolders;
}

export function localPaths({ env, workingDirectory }: World, names: readonly string[]): LocalPaths {
  const paths = names.map((each) => {
    if (each === "") throw usage("A path is empty", "name a file or a folder, such as ./report.pdf");
    return resolve(workingDirectory, each);
  });
  return { paths, allowed: foldersOfPerson([workingDirectory, ...paths], env) };
}
