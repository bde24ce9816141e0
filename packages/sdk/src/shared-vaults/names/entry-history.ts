/** Names and places that an item of a shared vault had: each is verified by the members of its own time. */
import { fileEntriesGroup, folderEntriesGroup } from "@coffer/contract";
import {
  parseEntryStatement,
  statementHash,
  type EntryKind,
  type EntryStatement,
  type OpenedEntry,
} from "@coffer/crypto";
import { callOn } from "../../http/call.ts";
import { fromBase64, toHex } from "../../transfer/digest.ts";
import { SdkError } from "../../http/errors.ts";
import type { Connection } from "../../connection/options.ts";
import { FILES, FOLDERS, type Entry, type EntryPage, type Item as Named } from "../../storage/items.ts";
import { isStored, type Linked } from "../condition.ts";
import type { OpenVault } from "../open-vault.ts";
import { vaultError } from "../vault-error.ts";
import { toVaultError } from "../vault-terms.ts";
import { signedBy } from "./authors.ts";
import { openEntryOf, openItem, openKeysOf, placeOf, type SharedItem } from "./entries.ts";
import { openLatest } from "./latest-item.ts";
import { isClosed, isOfOne } from "./name-reader.ts";
import { findVaultOf } from "./vault-finder.ts";

interface Item {
  readonly kind: EntryKind;
  readonly id: string;
  /** The page begins with the current entry, which every item has. */
  readonly isFirstPage: boolean;
}

/**
 * A page of entries as members signed them, newest first. An entry that is not true hides no others.
 * @throws VaultError `vault_changed`; `damaged` for no entry at all; `rolled_back` if the service hides an entry that this machine has seen.
 */
export async function verifyEntries<Kind extends Entry>(
  connection: Connection,
  item: Item,
  read: () => Promise<EntryPage<Kind>>,
): Promise<EntryPage<Kind>> {
  const page = await read();
  const vault = await vaultOf(connection, item, page.entries);
  if (vault === null) return page;
  try {
    return await verify(vault, item, page);
  } catch (error) {
    const failure = toVaultError(error);
    if (!(failure instanceof SdkError) || failure.code !== "rolled_back") throw failure;
    // Somebody on this machine may have changed the item since the service answered.
    return verify(vault, item, await read());
  }
}

/** null: a public one. */
async function vaultOf(
  connection: Connection,
  { id, isFirstPage }: Item,
  [first, ...rest]: readonly Entry[],
): Promise<OpenVault | null> {
  if (first === undefined) {
    if (isFirstPage) throw vaultError("damaged", `The service shows no entry of ${id}`, { step: "entry" });
    return null;
  }
  const { vaultId, shared } = first;
  const vault = await findVaultOf(connection, { id, vaultId, shared }, { sends: false });
  if (rest.some((entry) => entry.vaultId !== vaultId || (vault === null && entry.shared !== null)))
    throw vaultError("vault_changed", `The service shows ${id} in several vaults`);
  return vault;
}

async function verify<Kind extends Entry>(
  vault: OpenVault,
  { kind, id, isFirstPage }: Item,
  { entries, nextCursor }: EntryPage<Kind>,
): Promise<EntryPage<Kind>> {
  const items = entries.map(({ vaultId, shared }): SharedItem => ({ id, vaultId, shared }));
  try {
    await openKeysOf(vault, items);
  } catch (error) {
    const failure = toVaultError(error);
    if (!isClosed(failure)) throw failure;
    return { entries: entries.map((entry) => unverified(entry, failure.code)), nextCursor };
  }
  const verified: Kind[] = [];
  let newer: bigint | null = null;
  const past = await Promise.all(items.map((item) => openPast(vault, kind, item)));
  for (const [at, entry] of entries.entries()) {
    const opened = past[at] ?? "damaged";
    if (typeof opened === "string") {
      verified.push(unverified(entry, opened));
      continue;
    }
    const { revision, folderId } = opened.statement;
    if (isFirstPage && at === 0) requireNewest(vault, id, revision);
    if (newer !== null && revision >= newer) {
      verified.push(unverified(entry, "damaged"));
      continue;
    }
    newer = revision;
    const author = isOfItsSigner(opened, past[at + 1], entry.how) ? signedBy(opened.statement) : null;
    verified.push(shownAs(entry, { name: opened.metadata.name, place: folderId, author }));
  }
  return { entries: verified, nextCursor };
}

/**
 * Whether its signer is the author. The service keeps the entry that gave a name and the last one that came with new
 * content under it. So the signer gave the name if the entry is the item's first, or directly follows an older name's
 * last one. If it came with content, the older entry must show the same name: else a hidden one may have given it.
 */
function isOfItsSigner({ statement, metadata }: OpenedEntry, older: Opened | undefined, how: string): boolean {
  const { revision, previous, folderId } = statement;
  if (revision === 1n) return true;
  if (typeof older !== "object") return false;
  if (how === "content") return older.metadata.name === metadata.name && older.statement.folderId === folderId;
  return toHex(previous) === toHex(statementHash(older.statement.bytes));
}

type Opened = Awaited<ReturnType<typeof openPast>>;

/** The code that says why it is not to be believed, or the entry. */
async function openPast(vault: OpenVault, kind: EntryKind, item: SharedItem) {
  try {
    return await openEntryOf(vault, kind, item, null);
  } catch (error) {
    const failure = toVaultError(error);
    if (failure instanceof SdkError && isOfOne(failure)) return failure.code;
    throw failure;
  }
}

/** The entry that the service calls the current one must not be older than what this machine has seen. */
function requireNewest(vault: OpenVault, id: string, revision: bigint): void {
  const seen = vault.seen.entry(id);
  if (seen !== null && revision < seen.number)
    throw vaultError("rolled_back", `The service hides the newest entry of ${id}`, { step: "entry" });
}

/** Nothing of it is the service's word, except when and how it came. */
function unverified<Kind extends Entry>(entry: Kind, unreadable: string): Kind {
  return { ...shownAs(entry, { name: "", place: null, author: null }), unreadable };
}

function shownAs<Kind extends Entry>(
  entry: Kind,
  { name, place, author }: { readonly name: string; readonly place: string | null; readonly author: Entry["author"] },
): Kind {
  return { ...entry, name, author, ["folderId" in entry ? "folderId" : "parentId"]: place };
}

/**
 * Whether the item's current entry is the one that was sent, or follows it. null: the service keeps, or shows, too few of
 * the entries between them.
 */
export async function isEntryStored(
  connection: Connection,
  vault: OpenVault,
  kind: EntryKind,
  now: Named,
  sent: EntryStatement,
): Promise<boolean | null> {
  const readAgain = (): Promise<Named> => (kind === "file" ? FILES : FOLDERS).get(connection, now.id);
  const { statement } = await openLatest(now, readAgain, (latest) => openItem(vault, kind, latest, placeOf(latest)));
  return isStored(linked(sent), newestFirst(connection, kind, now.id, statement));
}

async function* newestFirst(
  connection: Connection,
  kind: EntryKind,
  id: string,
  current: EntryStatement,
): AsyncGenerator<Linked, void, undefined> {
  yield linked(current);
  const read = (query: object): Promise<EntryPage<Entry>> =>
    kind === "file"
      ? callOn(connection, fileEntriesGroup.entries, { params: { fileId: id }, query })
      : callOn(connection, folderEntriesGroup.entries, { params: { folderId: id }, query });
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await read(cursor === undefined ? {} : { cursor });
    for (const { shared } of page.entries)
      yield linked(parseEntryStatement(fromBase64(shared?.entry ?? "") ?? new Uint8Array(0)));
    cursor = page.nextCursor;
  }
}

function linked({ revision: number, previous, bytes }: EntryStatement): Linked {
  return { number, previous, bytes };
}
