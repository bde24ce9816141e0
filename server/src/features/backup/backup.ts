/**
 * A backup: all rows of one moment, in a database of SQLite whatever the service has, and then the contents that they name. A content
 * is in its store before a row names it, and lies in quarantine after the last row has gone, so a service may write meanwhile.
 */
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database, Queries } from "../../ports/database.ts";
import { type Content, copyContents, listContents, listQuarantined } from "../moving/blobs.ts";
import { copyRows, digestRows } from "../moving/rows-store.ts";
import { BACKUP, putMove } from "../moving/state.ts";
import { MOVED } from "../moving/tables.ts";
import type { Paired } from "../pairing/pairing.ts";
import { progressOf } from "../moving/progress.ts";
import { listHeads } from "./heads.ts";

export interface RowsOfBackup {
  readonly rows: number;
  /** The lines of `heads.txt`. */
  readonly heads: readonly string[];
}

/** @param into is empty. No server serves from it afterwards. */
export async function backUpRows(
  from: Paired,
  into: Database,
  { id, clock, say }: { readonly id: string; readonly clock: Pick<Clock, "now">; readonly say: (line: string) => void },
): Promise<RowsOfBackup> {
  await putMove(into, { id: BACKUP + id, state: "arriving", other: from.places.rows, at: clock.now() });
  let hasBegun = false;
  return from.database.snapshot(async (queries) => {
    // Another snapshot is another moment.
    if (hasBegun) throw new Error("The connection to the database broke: remove the directory and begin again");
    hasBegun = true;
    let rows = 0;
    for (const table of MOVED) {
      const progress = progressOf(say, table.name);
      await copyRows(queries, into, table, progress.rows, { isServed: false });
      rows += await compare(queries, into, table);
    }
    const heads: string[] = [];
    for await (const line of listHeads(queries)) heads.push(line);
    say(`${String(rows)} rows copied and compared`);
    return { rows, heads };
  });
}

async function compare(queries: Queries, into: Database, table: (typeof MOVED)[number]): Promise<number> {
  const [source, copy] = [await digestRows(queries, table), await digestRows(into, table)];
  if (source.rows !== copy.rows || source.digest !== copy.digest)
    throw new Error(`The copy of ${table.name} differs from its table: the disk of the backup cannot be trusted`);
  return source.rows;
}

export interface ContentsOfBackup {
  readonly copied: number;
  readonly bytes: number;
  /** Keys of contents that the rows name, and that the store does not have whole. */
  readonly missing: readonly string[];
}

/** Every content that the rows of the backup name, and what lies in quarantine. A missing one does not stop it. */
export async function backUpContents(
  rows: Queries,
  from: BlobStore,
  into: BlobStore,
  say: (line: string) => void,
): Promise<ContentsOfBackup> {
  const missing = new Set<string>();
  const progress = progressOf(say, "contents");
  const lost = (content: Content): void => void missing.add(content.blob_key);
  const named = await copyContents(listContents(rows), from, into, { told: progress.content, lost });
  const kept = await copyContents(listQuarantined(rows), from, into, { told: progress.content, lost: () => undefined });
  say(`${String(named.copied + kept.copied)} contents copied (${String(named.bytes + kept.bytes)} bytes)`);
  return { copied: named.copied + kept.copied, bytes: named.bytes + kept.bytes, missing: [...missing] };
}
