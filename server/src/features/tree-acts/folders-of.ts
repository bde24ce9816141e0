/** Trees from their root downwards. */
import type { Queries } from "../../ports/database.ts";
import { listChildren, type TreeRoot } from "./store.ts";

/** Folders of one level. */
export interface Level {
  readonly ids: readonly string[];
  readonly depth: number;
}

/** So few folders at once that one transaction can write them all. */
const AT_ONCE = 100;

/** The root and all folders below it, in the trash or not, some at a time. Nothing moves into or out of the tree meanwhile. */
export async function* foldersOf(queries: Queries, { id, depth: top }: TreeRoot): AsyncGenerator<Level> {
  const seen = new Set([id]);
  for (let level = [id], depth = top; level.length > 0; depth += 1) {
    const next: string[] = [];
    for (let at = 0; at < level.length; at += AT_ONCE) {
      const ids = level.slice(at, at + AT_ONCE);
      yield { ids, depth };
      for (const child of await listChildren(queries, ids)) {
        // Folders that lie in a circle, which nothing makes, must not be walked for ever.
        if (!seen.has(child)) next.push(child);
        seen.add(child);
      }
    }
    level = next;
  }
}
