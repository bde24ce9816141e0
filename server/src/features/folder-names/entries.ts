/** The names of shared vaults' files and folders: signed entries, held to what the service can see of them (encryption design §2). */
import { hash } from "node:crypto";
import { type SharedEntry, uuid } from "@coffer/contract";
import * as z from "zod/mini";
import { ServiceError } from "../../service-error.ts";
import type { Queries } from "../../ports/database.ts";
import type { SeenVault, Writer } from "../reach/access.ts";
import { requireEntry, requireSignedAlone } from "../shared-vaults/statement-rules.ts";
import { type EntryStatement, parseEntryStatement } from "../shared-vaults/statements.ts";
import { findCurrentKeyId } from "../vault-keys/store.ts";
import { findFolderKey, holdsOthers } from "./store.ts";
import { resetFolderKey } from "./staged-store.ts";

/** An entry as it was sent, with what its statement says. Nothing is verified yet. */
export interface SignedEntry {
  readonly shared: SharedEntry;
  readonly statement: EntryStatement;
}

/** Throws `statement_invalid` for anything but an entry statement, or for one of other metadata than comes with it. */
export function parseSignedEntry({ entry, metadata, nameIndex }: SharedEntry): SignedEntry {
  const statement = parseEntryStatement(entry);
  requireUuid(statement.id, "entry");
  if (statement.folderId !== null) requireUuid(statement.folderId, "entry");
  const bytes = Buffer.from(metadata, "base64");
  if (hash("sha256", bytes, "hex") !== statement.metadataDigest)
    throw new ServiceError("statement_invalid", "entry: it is about other metadata");
  return { shared: { entry, metadata, nameIndex }, statement };
}

/** The same for a name or place that comes without content. */
export function parseLoneEntry(shared: SharedEntry): SignedEntry {
  const signed = parseSignedEntry(shared);
  requireSignedAlone(signed.statement);
  return signed;
}

/** Ids become ids of rows: they have the form that all others have. */
export function requireUuid(id: string, what: string): void {
  if (!z.safeParse(uuid, id).success) throw new ServiceError("statement_invalid", `${what}: an id is no UUID`);
}

export interface WantedEntry {
  readonly kind: "file" | "folder";
  readonly id: string;
  /** null: the top of the vault. */
  readonly folderId: string | null;
  /** What the row holds so far; null: the item is new. */
  readonly old: { readonly entry: string } | null;
}

/**
 * Holds an entry to its item, place, predecessor, key and signer. Its folder's key is {@link requireFolderKey}'s to check.
 * @throws ServiceError `statement_invalid`, `generation_moved`.
 */
export async function requireFittingEntry(
  queries: Queries,
  vault: SeenVault,
  writer: Writer,
  entry: { readonly signed: SignedEntry; readonly wanted: WantedEntry },
): Promise<void> {
  const { generation, after } = entry.signed.statement;
  requireFittingEntryAt(writer, await findCurrentKeyId(queries, { vaultId: vault.id, generation, after }), entry);
}

/** The same for a caller that has the current key of the entry's place already. */
export function requireFittingEntryAt(
  writer: Writer,
  keyId: string | null,
  { signed, wanted }: { readonly signed: SignedEntry; readonly wanted: WantedEntry },
): void {
  const { statement } = signed;
  if (statement.kind !== wanted.kind)
    throw new ServiceError("statement_invalid", `entry: it is not of a ${wanted.kind}`);
  if (statement.id !== wanted.id) throw new ServiceError("statement_invalid", "entry: it is of another id");
  if (statement.folderId !== wanted.folderId)
    throw new ServiceError("statement_invalid", "entry: it names another folder");
  requireEntry(writer, statement, { keyId, before: wanted.old === null ? null : predecessorOf(wanted.old) });
}

function predecessorOf(old: { readonly entry: string }): { digest: string; count: number } {
  const { digest, revision } = parseEntryStatement(old.entry);
  return { digest, count: revision };
}

/**
 * A folder has one index key at a time, because indexes under two keys cannot be compared. The first entry sets it,
 * and so does an entry that becomes the only one. With plain names there is no index.
 * @throws ServiceError `names_outdated` for an entry under another key.
 */
export async function requireFolderKey(transaction: Queries, vault: SeenVault, entry: NamedEntry): Promise<void> {
  if (vault.plain_names === 1) return;
  const folder = { vaultId: vault.id, folderId: entry.folderId ?? "" };
  if ((await findFolderKey(transaction, folder)) === entry.keyId) return;
  if (await holdsOthers(transaction, folder, entry.id)) throw new ServiceError("names_outdated");
  await resetFolderKey(transaction, folder, entry.keyId);
}

type NamedEntry = Pick<EntryStatement, "id" | "folderId" | "keyId">;

/** What {@link requireFolderKey} would refuse, before there is a transaction. */
export async function refuseOutdatedName(queries: Queries, vault: SeenVault, entry: NamedEntry): Promise<void> {
  if (vault.plain_names === 1) return;
  const folder = { vaultId: vault.id, folderId: entry.folderId ?? "" };
  const isCurrent = async () => (await findFolderKey(queries, folder)) === entry.keyId;
  if ((await isCurrent()) || !(await holdsOthers(queries, folder, entry.id))) return;
  // Once more: the first entry of the folder may have come between the two reads, and set this key.
  if (!(await isCurrent())) throw new ServiceError("names_outdated");
}

/**
 * Whether an entry that was written before still names its place, under its folder's key: as when it comes back from the trash.
 * @throws ServiceError `names_outdated`.
 */
export async function requireStandingEntry(
  transaction: Queries,
  vault: SeenVault,
  { entry, folderId }: { readonly entry: string; readonly folderId: string | null },
): Promise<void> {
  const statement = parseEntryStatement(entry);
  if (statement.folderId !== folderId)
    throw new ServiceError("names_outdated", "Its old place is gone: sign an entry for the new place");
  await requireFolderKey(transaction, vault, statement);
}

/**
 * What the column `name` holds: the name's index, or in a vault with plain names the name. `name`: what came in the clear; `old`: of a
 * name that stays.
 * @throws ServiceError `validation_failed` for a name in the clear where they are encrypted, and for none where they are not.
 */
export function nameColumn(
  vault: SeenVault,
  shared: Pick<SharedEntry, "nameIndex">,
  { name, old }: { readonly name: string | undefined; readonly old?: string },
): string {
  if (vault.plain_names !== 1) {
    if (name !== undefined) throw new ServiceError("validation_failed", "name: this vault's names are encrypted");
    return shared.nameIndex;
  }
  const plain = name ?? old;
  if (plain === undefined)
    throw new ServiceError("validation_failed", "name: a name is required, this vault has plain names");
  // The column holds an index, not a name, if it is the entry's index.
  if (plain === shared.nameIndex) throw new ServiceError("validation_failed", "name: it must not be the name index");
  return plain;
}

/** A change of name or place in a shared vault needs an entry, which `shared` brings; in a public vault nothing takes one. */
export function requireEntryOf(shared: SharedEntry | undefined): SignedEntry {
  if (shared === undefined)
    throw new ServiceError("validation_failed", "body.shared: a signed entry is required in a shared vault");
  return parseLoneEntry(shared);
}

export function refuseEntry(shared: SharedEntry | undefined): void {
  if (shared !== undefined)
    throw new ServiceError("validation_failed", "body.shared: a public vault takes no signed entries");
}
