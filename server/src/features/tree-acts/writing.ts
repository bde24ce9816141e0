/**
 * Acts on trees, from their first row to the last. A small tree is written in the act itself. A large one is marked: the act is through for
 * every reader (acts.ts), and a job of any process writes its rows, some in each transaction, so that nobody waits for all of them.
 */
import type { Deps } from "../../deps.ts";
import type { Queries } from "../../ports/database.ts";
import type { TreeActRow } from "../../ports/tree-act-tables.ts";
import { type AccountAct, type ActDeps, actOn } from "../account/act.ts";
import { adoptEntriesKey } from "../folder-names/aligning.ts";
import { refuseOverTree } from "./acts.ts";
import { foldersOf, type Level } from "./folders-of.ts";
import {
  findRoot,
  insertTreeAct,
  isElsewhere,
  isUnderWay,
  listAllTreeActs,
  listFoldersBelow,
  listUnwritten,
  removeTreeAct,
  type TreeRoot,
  writeDepth,
  writeState,
} from "./store.ts";

type Limits = Pick<Deps, "settings">;

const TABLES = ["files", "folders"] as const;

export type WantedTreeAct = Pick<TreeActRow, "kind" | "trashed_at" | "trashed_with">;

/** For a folder whose own row has its new state and place. Throws `tree_busy` while another act is under way below it. */
export async function startTreeAct(
  act: AccountAct,
  deps: Limits,
  root: TreeRoot,
  wanted: WantedTreeAct,
): Promise<void> {
  await refuseOverTree(act, root.vault_id, root.id);
  const { sequence } = act.account;
  const row: TreeActRow = {
    root_id: root.id,
    account_id: root.account_id,
    vault_id: root.vault_id,
    kind: wanted.kind,
    sequence,
    trashed_at: wanted.trashed_at,
    trashed_with: wanted.trashed_with,
  };
  if (!(await isSmall(act, deps, row))) return insertTreeAct(act, row);
  for await (const level of foldersOf(act, root)) while (await writeSome(act, deps, row, level));
}

/** Whether one transaction may write all of it: a folder is written twice at most. */
async function isSmall(act: AccountAct, { settings }: Limits, row: TreeActRow): Promise<boolean> {
  // One act may be on many folders.
  let left = settings.limits.actRows - act.writtenRows;
  if (left <= 0) return false;
  const folderIds = await listFoldersBelow(act, row.root_id, left);
  left -= 2 * folderIds.length;
  if (left < 0 || row.kind === "move") return left >= 0;
  return (await listUnwritten(act, "files", row, folderIds, left + 1)).length <= left;
}

/** Writes some rows of what lies in the folders, and their depth. False: there are none left. */
async function writeSome(
  transaction: Queries,
  { settings }: Limits,
  row: TreeActRow,
  { ids, depth }: Level,
): Promise<boolean> {
  let room = settings.limits.actRows;
  for (const table of TABLES) {
    if (row.kind === "move") break;
    const unwritten = await listUnwritten(transaction, table, row, ids, room + 1);
    await writeState(transaction, table, row, unwritten.slice(0, room));
    if (unwritten.length > room) return true;
    room -= unwritten.length;
  }
  // With the last of their rows: a level without unwritten rows is done.
  await writeDepth(transaction, ids, depth);
  if (row.kind === "restore")
    for (const folderId of ids) await adoptEntriesKey(transaction, { vaultId: row.vault_id, folderId });
  return false;
}

/** Whether the folders have unwritten rows: who goes on after another looks without holding up other writers. */
async function hasLeft(queries: Queries, row: TreeActRow, { ids, depth }: Level): Promise<boolean> {
  for (const table of TABLES)
    if (row.kind !== "move" && (await listUnwritten(queries, table, row, ids, 1)).length > 0) return true;
  return isElsewhere(queries, ids, depth);
}

type FinishingDeps = ActDeps & Limits;

/** Writes what marked acts have left to be written. Cut off anywhere, the next call goes on, in whichever process. */
export async function finishTreeActs(deps: FinishingDeps, signal: AbortSignal): Promise<{ finished: number }> {
  let finished = 0;
  for (const row of await listAllTreeActs(deps.database)) if (await finish(deps, row, signal)) finished += 1;
  return { finished };
}

async function finish(deps: FinishingDeps, row: TreeActRow, signal: AbortSignal): Promise<boolean> {
  const root = await findRoot(deps.database, row.root_id);
  if (root === null) return false;
  // False: another process has finished it, or its vault is being deleted.
  const step = (work: (act: AccountAct) => Promise<unknown>): Promise<boolean> =>
    actOn(
      deps,
      row.account_id,
      async (act) => {
        const goesOn = await isUnderWay(act, row);
        if (goesOn) await work(act);
        return goesOn;
      },
      { freesSpace: true },
    );
  for await (const level of foldersOf(deps.database, root))
    while (await hasLeft(deps.database, row, level))
      if (signal.aborted || !(await step((act) => writeSome(act, deps, row, level)))) return false;
  return !signal.aborted && step((act) => removeTreeAct(act, row));
}
