/** Files, folders and uploads that a caller may see: its account's, and those of shared vaults that record its chain address. */
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { FileRow, FolderRow } from "../../ports/tables.ts";
import { notFound, visible } from "../acting.ts";
import { findItem, findItemOfMember } from "./store.ts";
import { findActingAddress, readVaultFor, type SeenVault } from "./access.ts";

export interface Seen<Row> {
  readonly row: Row;
  /** null: a public vault of the caller's own account. */
  readonly vault: SeenVault | null;
}

export type SeenFile = Seen<FileRow>;
export type SeenFolder = Seen<FolderRow>;

/** Throws `not_found`: whether there is one that the caller may not see is not disclosed. In the trash or not. */
export async function readFileFor(queries: Queries, principal: Principal, id: string): Promise<SeenFile> {
  return see(queries, principal, "File", {
    own: () => findItem(queries, "files", { id, accountId: principal.accountId }),
    ofMember: (chainAddress) => findItemOfMember(queries, "files", { id, chainAddress }),
  });
}

/** The same for a folder. */
export async function readFolderFor(queries: Queries, principal: Principal, id: string): Promise<SeenFolder> {
  return see(queries, principal, "Folder", {
    own: () => findItem(queries, "folders", { id, accountId: principal.accountId }),
    ofMember: (chainAddress) => findItemOfMember(queries, "folders", { id, chainAddress }),
  });
}

/** Whether the caller has the owner's rights over what lies in the vault. */
export function actsAsOwner(principal: Principal, vault: SeenVault | null): boolean {
  return (vault?.standing ?? principal.accessLevel) === "owner";
}

interface LookUps<Row> {
  readonly own: () => Promise<Row | null>;
  readonly ofMember: (chainAddress: string) => Promise<Row | null>;
}

/** A row of the own account is one look-up, as long as it is in a public vault. */
async function see<Row extends { readonly vault_id: string; readonly shared_json: string | null }>(
  queries: Queries,
  principal: Principal,
  kind: string,
  { own, ofMember }: LookUps<Row>,
): Promise<Seen<Row>> {
  const mine = await own();
  if (mine !== null) {
    const row = visible(principal, mine, kind);
    return { row, vault: row.shared_json === null ? null : await readVaultFor(queries, principal, row.vault_id, kind) };
  }
  const chainAddress = await findActingAddress(queries, principal);
  const row = chainAddress === null ? null : await ofMember(chainAddress);
  if (row === null) throw notFound(kind);
  return { row, vault: await readVaultFor(queries, principal, row.vault_id, kind) };
}
