/** Names of files and folders in a shared vault: made for an upload, and opened for a list (file-format §8, §9). */
import type { File, Folder, SharedEntry } from "@coffer/contract";
import {
  CryptoError,
  encodeMetadata,
  encryptMetadata,
  findSigner,
  makeEntryStatement,
  nextNumber,
  nameIndex,
  openEntry,
  parseEntryStatement,
  plainNameIndex,
  seenEntry,
  type EntryKind,
  type EntryStatement,
  type Metadata,
  type NewEntry,
  type OpenedEntry,
  type SeenStatement,
  type VaultKeyRecord,
  type VaultView,
} from "@coffer/crypto";
import { fromBase64, toBase64, toHex } from "../../transfer/digest.ts";
import { claimsOf, viewNaming } from "./signer-view.ts";
import type { OpenVault, WritingKey } from "../open-vault.ts";
import { vaultError } from "../vault-error.ts";
import { VaultError } from "../../http/errors.ts";

export interface EntryDraft {
  readonly kind: EntryKind;
  readonly id: string;
  /** null: the top of the vault. */
  readonly folderId: string | null;
  readonly metadata: Metadata;
  /** The statement before it, verified; null for a new item. */
  readonly previous: EntryStatement | null;
}

/** All of an entry but its signature. */
export interface PreparedEntry {
  readonly unsigned: NewEntry;
  /** In hex. */
  readonly nameIndex: string;
}

/** A signed entry under the key of the vault's generation, in the service's form. */
export async function makeEntry(
  vault: OpenVault,
  view: VaultView,
  writing: WritingKey,
  draft: EntryDraft,
): Promise<SharedEntry> {
  const prepared = await prepareEntry(vault, view, writing, draft);
  return toShared(prepared, await makeEntryStatement(view, await vault.author(view), prepared.unsigned));
}

export async function prepareEntry(
  vault: OpenVault,
  view: VaultView,
  { record, key }: WritingKey,
  draft: EntryDraft,
): Promise<PreparedEntry> {
  const { kind, id, folderId, previous } = draft;
  const place = { kind, id, revision: nextNumber(previous?.revision ?? null, "entry"), keyId: record.keyId };
  const metadata = view.plainNames
    ? encodeMetadata(kind, draft.metadata)
    : await encryptMetadata(vault.platform, key, place, draft.metadata);
  return {
    unsigned: {
      kind,
      id,
      folderId,
      metadata,
      previous,
      time: Date.now(),
      record: view.plainNames ? null : record,
      place: record,
    },
    nameIndex: toHex(indexOf(view, key, folderId, draft.metadata.name)),
  };
}

export function toShared({ unsigned, nameIndex }: PreparedEntry, { bytes }: EntryStatement): SharedEntry {
  return { entry: toBase64(bytes), metadata: toBase64(unsigned.metadata), nameIndex };
}

/** What this client has written is in this vault from then on, and the client accepts nothing older. */
export function recordOwnEntry(vault: OpenVault, id: string, entry: EntryStatement): void {
  vault.seen.recordEntry(id, seenEntry(entry));
}

/** The statement of an entry that this client signed. */
export function ownStatement({ entry }: SharedEntry): EntryStatement {
  return parseEntryStatement(fromBase64(entry) ?? new Uint8Array(0));
}

/** The service's search key for a name. */
export function indexOf(view: VaultView, key: WritingKey["key"], folderId: string | null, name: string): Uint8Array {
  return view.plainNames ? plainNameIndex(folderId, name) : nameIndex(key, folderId, name);
}

/** A file or folder in the service's answer. */
export type SharedItem = Pick<File | Folder, "id" | "vaultId"> & { readonly shared: SharedEntry | null };

/**
 * The folder that an item's entry must name. In the trash the service may show another one, because the old folder is
 * gone. The entry's own folder then counts, and its signature is checked all the same.
 */
export function placeOf(
  item: Pick<File, "folderId" | "trashedAt" | "shared"> | Pick<Folder, "parentId" | "trashedAt" | "shared">,
): string | null {
  const shownFolder = "folderId" in item ? item.folderId : item.parentId;
  if (item.trashedAt === null || item.shared === null) return shownFolder;
  const bytes = fromBase64(item.shared.entry);
  return bytes === null ? shownFolder : parseEntryStatement(bytes).folderId;
}

/** With the view that it was verified by. */
export interface OpenedItem extends OpenedEntry {
  readonly view: VaultView;
}

/**
 * Verifies and opens an entry. It must be in the folder that the service shows: else a service could move files about.
 * @throws VaultError `not_encrypted` for an item of a shared vault without an entry; CryptoError, ChainError.
 */
export async function openItem(
  vault: OpenVault,
  kind: EntryKind,
  item: SharedItem,
  folderId: string | null,
): Promise<OpenedItem> {
  const opened = await openEntryOf(vault, kind, item, vault.seen.entry(item.id));
  if (opened.statement.folderId !== folderId)
    throw vaultError("damaged", `The service shows ${kind} ${item.id} in another folder than its entry says`, {
      step: "entry",
    });
  vault.seen.recordEntry(item.id, seenEntry(opened.statement));
  return opened;
}

/** The same of an entry that need not be the current one. `seen`: null for one that is asked for as a past one. */
export async function openEntryOf(
  vault: OpenVault,
  kind: EntryKind,
  item: SharedItem,
  seen: SeenStatement | null,
): Promise<OpenedItem> {
  // Also in an answer to a second read: its caller goes on in the vault that it names.
  if (item.vaultId !== vault.id)
    throw vaultError(
      "vault_changed",
      `${item.id} lies in vault ${vault.id}, and the service shows it in ${item.vaultId}`,
      {
        step: "pins",
      },
    );
  const { entry, metadata } = requireEntry(item);
  const parsed = parseEntryStatement(entry);
  // First of all, as in the reading order: it looks for no key of another vault here.
  if (parsed.vault.some((byte, at) => byte !== vault.objectId[at]))
    throw new CryptoError("vault_changed", "pins", `the entry of ${item.id} is another vault's`);
  const { view, record } = await viewOf(vault, parsed);
  const question = { vault: vault.objectId, view, kind, id: item.id, seen };
  const answer = { statement: parsed, metadata, record: record?.bytes ?? null };
  return { ...(await openEntry(vault.platform, question, answer, vault.findKey)), view };
}

/** Names the signer of the entry, and the maker of its key, if they are members: a member added just now may be either. */
async function viewOf(vault: OpenVault, entry: EntryStatement) {
  const read: OpenVault["view"] = (options) => vault.view(options);
  const view = await viewNaming(read, [entry]);
  // Nobody signs in a generation that the vault has not reached: it asks for no key of it, and refuses the statement.
  const isSignable = findSigner(view, entry.signer, entry) !== null;
  if (view.plainNames || !isSignable) return { view, record: null };
  const record = await vault.record(entry.keyId, entry.generation);
  return { view: await viewNaming(read, [entry, ...claimsOf(record)], view), record };
}

/**
 * Opens the keys that a list needs with one request per key server, before its entries are opened one by one. An error
 * of one entry or record shows there.
 */
export async function openKeysOf(vault: OpenVault, items: readonly SharedItem[]): Promise<void> {
  const statements = items.flatMap(parseable);
  const view = await viewNaming((options) => vault.view(options), statements);
  if (view.plainNames) return;
  const signed = statements.filter((entry) => findSigner(view, entry.signer, entry) !== null);
  const records = await Promise.all(signed.map(({ keyId, generation }) => listed(vault, keyId, generation)));
  await vault.openKeys(records.filter((record) => record !== null));
}

function parseable({ shared }: SharedItem): EntryStatement[] {
  try {
    return [parseEntryStatement(fromBase64(shared?.entry ?? "") ?? new Uint8Array(0))];
  } catch (error) {
    if (error instanceof CryptoError) return [];
    throw error;
  }
}

/** null: the service lists no such record. */
async function listed(vault: OpenVault, keyId: Uint8Array, generation: bigint): Promise<VaultKeyRecord | null> {
  try {
    return await vault.record(keyId, generation);
  } catch (error) {
    if (error instanceof VaultError && error.code === "damaged") return null;
    throw error;
  }
}

function requireEntry({ id, shared }: SharedItem): { readonly entry: Uint8Array; readonly metadata: Uint8Array } {
  const [entry, metadata] = [fromBase64(shared?.entry ?? ""), fromBase64(shared?.metadata ?? "")];
  if (shared === null || entry === null || metadata === null)
    throw vaultError("not_encrypted", `The service shows ${id} of a shared vault without its signed name`);
  return { entry, metadata };
}
