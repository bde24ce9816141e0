/** A file's next version: its row gets another content, and what it had is kept as a version of its own. */
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { FileRow } from "../../ports/tables.ts";
import { fileTarget, recordChange } from "../acting.ts";
import { spendBudgets } from "../budgets/spending.ts";
import { authorKeyOf, renderAuthor } from "../items/authors.ts";
import { type Changing, requireWritten } from "../items/changing.ts";
import { requireUnchanged } from "../items/conditions.ts";
import { changeEntry } from "../items/entries.ts";
import { readKeptUntil } from "../items/keeping.ts";
import { nameOrConflict } from "../items/names.ts";
import { updateItem } from "../items/store.ts";
import { readFileFor, requireChangeable, type SeenFile } from "../reach/items.ts";
import { keepVersion } from "./kept-versions-store.ts";
import { etagOf } from "./rules.ts";

/** The file of a new version: not in the trash, and with the content that If-Match names. Throws `trashed`, `precondition_failed`. */
export function requireReplaceable(seen: SeenFile, ifMatch: string | undefined): void {
  requireChangeable("file", seen);
  requireUnchanged(ifMatch, seen.row, etagOf(seen.row));
}

/** The same of the file of that id. Throws `not_found` as well. */
export async function readReplaceable(
  queries: Queries,
  principal: Principal,
  { fileId, ifMatch }: { readonly fileId: string; readonly ifMatch: string | undefined },
): Promise<SeenFile> {
  const seen = await readFileFor(queries, principal, fileId);
  requireReplaceable(seen, ifMatch);
  return seen;
}

/** With what a version is written in an act. */
export type VersionWriting = Pick<Changing, "act" | "principal"> & {
  readonly deps: Pick<Deps, "clock" | "random" | "settings">;
};

export interface NextVersion {
  readonly columns: Pick<FileRow, "blob_key" | "size" | "sha256" | "content_type" | "budget_id"> &
    Partial<Pick<FileRow, "version_id" | "name" | "folder_id" | "shared_json" | "revision">>;
  readonly how: "replace" | "restore";
  /** Why the entry before is kept; null: the file's entry stays. */
  readonly entry: "content" | "rename" | "move" | null;
  /** Whose versions count together; null: the caller's. */
  readonly authorKey: string | null;
  /** False: the content before is given up already. */
  readonly keep: boolean;
  /** Those that are stored in addition. The account's usage has them already. */
  readonly bytes: number;
}

/** Throws what {@link spendBudgets} throws, and `name_exists`. */
export async function writeVersion(
  { act, deps, principal }: VersionWriting,
  old: FileRow,
  { columns, how, entry, authorKey, keep, bytes }: NextVersion,
): Promise<FileRow> {
  await spendBudgets(act, deps, principal.budgets, { bytes, files: 1 });
  const now = deps.clock.now();
  const author = await renderAuthor(act, principal, old.account_id);
  const changes = {
    version_id: deps.random.uuid(),
    version_number: old.version_number + 1,
    version_at: now,
    version_how: how,
    version_author: author,
    updated_at: now,
    updated_by: author,
    ...columns,
    ...(entry === null ? {} : await changeEntry(act, deps, old, { how: entry, now, author })),
  };
  requireWritten(await nameOrConflict(updateItem(act, "file", old, changes)));
  if (keep) {
    const expiresAt = await readKeptUntil(act, deps, old.vault_id, now);
    await keepVersion(act, old, { now, expiresAt, authorKey: authorKey ?? authorKeyOf(author) });
  }
  const row = { ...old, ...changes };
  await recordChange(act, principal, "file.updated", fileTarget(row));
  return row;
}
