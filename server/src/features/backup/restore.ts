/** A backup into a new database and a new store. Whatever bound its clients to running servers ends. */
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database, Queries } from "../../ports/database.ts";
import type { Random } from "../../ports/random.ts";
import type { Tables } from "../../ports/tables.ts";
import { copyContents, listContents, listQuarantined, verifyContents } from "../moving/blobs.ts";
import { isEmpty, requireNewStore, type Side } from "../moving/moving.ts";
import { progressOf } from "../moving/progress.ts";
import { copyRows, digestRows } from "../moving/rows-store.ts";
import { findMove, putMove, RESTORE } from "../moving/state.ts";
import { MOVED } from "../moving/tables.ts";

/** Whoever is signed in, or is about to be, and mails that are on their way. */
const ENDED: readonly (keyof Tables)[] = [
  "refresh_tokens",
  "sessions",
  "sign_ins",
  "chain_challenges",
  "mail_tokens",
  "mail_requests",
];

/** A restore that cannot go on. The message says why. */
export class RestoreError extends Error {
  override readonly name = "RestoreError";
}

export interface Restoring {
  readonly backup: {
    readonly id: string;
    /** For people. */
    readonly place: string;
    readonly rows: Database;
    readonly contents: Pick<BlobStore, "open" | "openDeleted">;
  };
  readonly to: Side;
  readonly endKeys: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly say: (line: string) => void;
}

export interface Restored {
  readonly rows: number;
  readonly contents: number;
  /** Contents that the rows name and the backup does not have. */
  readonly missing: readonly string[];
  readonly endedKeys: number;
}

/** Can be run again after a break, with the same backup. @throws RestoreError */
export async function restoreAll(restoring: Restoring): Promise<Restored> {
  const { backup, to, clock, say } = restoring;
  await startRestore(restoring);
  const missing = new Set<string>();
  const options = {
    told: progressOf(say, "contents").content,
    lost: ({ blob_key: key }: { blob_key: string }) => void missing.add(key),
  };
  const copied = await copyContents(listContents(backup.rows), backup.contents, to.blobs, options);
  const kept = await copyContents(listQuarantined(backup.rows), backup.contents, to.blobs, {
    ...options,
    lost: () => undefined,
  });
  say(`${String(copied.copied + kept.copied)} contents copied, ${String(copied.found + kept.found)} were there`);
  let rows = 0;
  for (const table of MOVED) {
    await copyRows(backup.rows, to.database, table, progressOf(say, table.name).rows);
    const [source, copy] = [await digestRows(backup.rows, table), await digestRows(to.database, table)];
    if (source.rows !== copy.rows || source.digest !== copy.digest)
      throw new RestoreError(`${table.name} of ${to.place} is not what the backup has: empty it, and restore again`);
    rows += copy.rows;
  }
  const readBack = progressOf(say, "contents read back");
  const contents = await verifyContents(without(listContents(backup.rows), missing), to.blobs, readBack.content);
  const endedKeys = await finish(to.database, restoring.endKeys ? clock.now() : null);
  return { rows, contents, missing: [...missing], endedKeys };
}

async function startRestore({ backup, to, clock, random }: Restoring): Promise<void> {
  const id = RESTORE + backup.id;
  const found = await findMove(to.database);
  const isOurs = found?.state === "arriving" && found.id === id;
  if (!isOurs && (found !== null || !(await isEmpty(to.database))))
    throw new RestoreError(`${to.place} has data of its own: name a new database, and a new directory or prefix`);
  await requireNewStore(to, { clock, random });
  await putMove(to.database, { id, state: "arriving", other: backup.place, at: clock.now() });
}

async function* without<Item extends { readonly blob_key: string }>(
  contents: AsyncIterable<Item>,
  keys: ReadonlySet<string>,
): AsyncGenerator<Item> {
  for await (const content of contents) if (!keys.has(content.blob_key)) yield content;
}

/** From its commit on a server may start. Returns how many keys ended. */
function finish(database: Database, endKeysAt: number | null): Promise<number> {
  return database.transaction(async (transaction) => {
    for (const table of ENDED) await transaction.run(deleteAll(transaction, table));
    await transaction.run(deleteAll(transaction, "moves"));
    if (endKeysAt === null) return 0;
    const live = transaction.build
      .updateTable("api_keys")
      .set({ revoked_at: endKeysAt })
      .where("revoked_at", "is", null);
    return transaction.run(live);
  });
}

function deleteAll({ build }: Queries, table: keyof Tables) {
  return build.deleteFrom(table);
}
