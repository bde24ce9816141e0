/** Where the data are: a storage that was left, or is not complete yet, serves nobody. */
import type { Database, Queries } from "../../ports/database.ts";
import type { MoveRow } from "../../ports/move-tables.ts";

/** Begins the id of rows that nobody serves: those of a backup, and those that a restore has not completed. */
export const BACKUP = "backup:";
export const RESTORE = "restore:";

export function findMove(queries: Queries): Promise<MoveRow | null> {
  return queries.first(queries.build.selectFrom("moves").selectAll().limit(1));
}

export async function putMove(database: Database, row: MoveRow): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.run(transaction.build.deleteFrom("moves"));
    await transaction.run(transaction.build.insertInto("moves").values(row));
  });
}

export async function endMove(database: Database): Promise<void> {
  await database.transaction((transaction) => transaction.run(transaction.build.deleteFrom("moves")));
}

/** @throws Error, with what to do, when a server must not start on it. */
export async function requireHere(queries: Queries): Promise<void> {
  const move = await findMove(queries);
  if (move === null) return;
  const when = new Date(move.at).toISOString();
  if (move.id.startsWith(BACKUP))
    throw new Error(
      `These are the rows of a backup of ${move.other}: coffer-server restore brings them back elsewhere`,
    );
  if (move.id.startsWith(RESTORE))
    throw new Error(`The restore from ${move.other} that began on ${when} is not complete: run it again to finish it`);
  if (move.state === "left")
    throw new Error(`The data moved to ${move.other} on ${when}. Start the server with the settings of that storage`);
  const end = "Run the same `move` again to finish it";
  if (move.state === "leaving")
    throw new Error(`The data are moving to ${move.other} since ${when}. ${end}, or \`move --cancel\` to stay here`);
  throw new Error(`The data are arriving from ${move.other} since ${when} and are not complete. ${end}`);
}
