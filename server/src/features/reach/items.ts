/** Files, folders and uploads that a caller may see: its account's, and those of shared vaults that record its chain address. */
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { notFound, visible } from "../acting.ts";
import { findActingAddress, readVaultFor, type SeenVault } from "./access.ts";
import { folderIdOf, type ItemKind, type ItemRows } from "./kinds.ts";
import { findItem, findItemOfMember } from "./store.ts";

export interface Seen<Row> {
  readonly row: Row;
  /** null: a public vault of the caller's own account. */
  readonly vault: SeenVault | null;
}

export type SeenFile = Seen<ItemRows["file"]>;
export type SeenFolder = Seen<ItemRows["folder"]>;

const NAMES = { file: "File", folder: "Folder" } as const;

/**
 * In the trash or not; a row of the own account is one look-up, as long as it is in a public vault. Throws `not_found`: whether there is one
 * that the caller may not see is not disclosed.
 */
export async function readItemFor<Kind extends ItemKind>(
  queries: Queries,
  principal: Principal,
  kind: Kind,
  id: string,
): Promise<Seen<ItemRows[Kind]>> {
  const name = NAMES[kind];
  const mine = await findItem(queries, kind, { id, accountId: principal.accountId });
  if (mine !== null) {
    const row = visible(principal, mine, name);
    return { row, vault: row.shared_json === null ? null : await readVaultFor(queries, principal, row.vault_id, name) };
  }
  const chainAddress = await findActingAddress(queries, principal);
  const row = chainAddress === null ? null : await findItemOfMember(queries, kind, { id, chainAddress });
  if (row === null) throw notFound(name);
  return { row, vault: await readVaultFor(queries, principal, row.vault_id, name) };
}

export function readFileFor(queries: Queries, principal: Principal, id: string): Promise<SeenFile> {
  return readItemFor(queries, principal, "file", id);
}

export function readFolderFor(queries: Queries, principal: Principal, id: string): Promise<SeenFolder> {
  return readItemFor(queries, principal, "folder", id);
}

/**
 * An item outside the trash. The owner of a shared vault rotates items in its trash as well; `folderId`: its new
 * folder, if the caller names one.
 */
export async function readChangeable<Kind extends ItemKind>(
  queries: Queries,
  principal: Principal,
  kind: Kind,
  { id, folderId }: { readonly id: string; readonly folderId?: string | null | undefined },
): Promise<Seen<ItemRows[Kind]>> {
  const seen = await readItemFor(queries, principal, kind, id);
  const stays = folderId === undefined || folderId === folderIdOf(seen.row);
  requireChangeable(kind, seen, stays);
  return seen;
}

/** The same for an item that was read already; `stays`: in its folder. Throws `trashed`. */
export function requireChangeable<Kind extends ItemKind>(kind: Kind, seen: Seen<ItemRows[Kind]>, stays = true): void {
  if (seen.row.trashed_at !== null && !(stays && seen.vault?.standing === "owner"))
    throw new ServiceError("trashed", `The ${kind} is in the trash`);
}

/** Whether the caller has the owner's rights over what lies in the vault. */
export function actsAsOwner(principal: Principal, vault: SeenVault | null): boolean {
  return (vault?.standing ?? principal.accessLevel) === "owner";
}
