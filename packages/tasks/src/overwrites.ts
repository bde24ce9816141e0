/** Local files that a download would replace, as the person saw them who agrees to it. */
import { lstatSync } from "node:fs";

export interface Overwrite {
  /** Its real path. */
  readonly path: string;
  /** Another one once somebody changed the file. */
  readonly mark: string;
  /** What takes its place. */
  readonly fileId: string | null;
  readonly versionId: string | null;
}

/** null: there is no such file. */
export function fileMark(path: string): string | null {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats?.isFile() === true ? [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(" ") : null;
}

/** Lets these files be replaced as long as they are what they were, and no other ones: the service names what comes. */
export function allowOverwrites(overwrites: readonly Overwrite[]): (path: string) => boolean {
  const marks = new Map(overwrites.map(({ path, mark }) => [path, mark]));
  return (path) => marks.has(path) && marks.get(path) === fileMark(path);
}
