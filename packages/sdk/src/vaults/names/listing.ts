/** Files and folders of shared vaults with the names and sizes that only members can read. */
import { clientApi as api, type Folder } from "@coffer/contract";
import type { EntryKind, OpenedEntry } from "@coffer/crypto";
import { callOn } from "../../call.ts";
import { ApiError, SdkError } from "../../errors.ts";
import type { File } from "../../file.ts";
import type { Connection, CallOptions } from "../../options.ts";
import { isUnnamed, unnamed } from "../../unreadable.ts";
import { openItem, openKeysOf, placeOf } from "./entries.ts";
import type { OpenVault } from "../open-vault.ts";
import { liesIn } from "./places.ts";
import { toVaultError, VaultError } from "../vault-error.ts";
import { vaultSession } from "../vault-session.ts";

/** What a caller who is no member sees: ids, stored sizes, dates (decisions §0). */
const CLOSED: ReadonlySet<string> = new Set(["not_a_member", "key_servers_unavailable", "key_servers_behind"]);
/** What is wrong with one entry, and says nothing about the others. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  ...["damaged", "wrong_key", "rolled_back", "not_encrypted", "unsupported_version", "unsupported_suite"],
]);

/** What a list was asked for: in a shared vault each of its items is held to that. */
export interface Asked {
  readonly vaultId?: string | undefined;
  /** Of the folder that they lie in; `root` for the top of the vault. */
  readonly folderId?: string | undefined;
  readonly name?: string | undefined;
  readonly trashed?: boolean | undefined;
}

/**
 * Each with its name, content type and size where this client can open it; where it cannot, without them, and with `unreadable` saying why.
 * One that cannot be trusted, or was not asked for, does not hide the others. @throws VaultError `damaged` for another name than the one
 * that was asked for: whoever finds a file by its name goes on with it.
 */
export function nameFiles(
  connection: Connection,
  files: readonly File[],
  asked: Asked,
  options?: CallOptions,
): Promise<File[]> {
  return nameList(connection, files, asked, options, filesOf(connection, placeIn(asked)));
}

export function nameFolders(
  connection: Connection,
  folders: readonly Folder[],
  asked: Asked,
  options?: CallOptions,
): Promise<Folder[]> {
  return nameList(connection, folders, asked, options, foldersOf(connection, placeIn(asked)));
}

/** The one that was asked for: whoever asks for it by its id learns what is wrong with it. @throws VaultError `damaged`, `rolled_back`, … */
export async function nameOneFile(connection: Connection, file: File, options?: CallOptions): Promise<File> {
  return nameOne(connection, file, options, filesOf(connection));
}

export async function nameOneFolder(connection: Connection, folder: Folder, options?: CallOptions): Promise<Folder> {
  return nameOne(connection, folder, options, foldersOf(connection));
}

async function nameOne<Item extends File | Folder>(
  connection: Connection,
  item: Item,
  options: CallOptions | undefined,
  name: Name<Item>,
): Promise<Item> {
  await liesIn(connection, item.id, item.vaultId);
  const vault = await vaultSession(connection).look(item.vaultId, options);
  return (await nameVault(vault, [item], name))[0] ?? item;
}

type Place = (item: File | Folder) => string | null;

/** Where an item of a list must lie: in the folder that was asked for, whatever the service says of it. */
function placeIn({ folderId, trashed = false }: Asked): Place {
  if (folderId === undefined || trashed) return placeOf;
  return () => (folderId === "root" ? null : folderId);
}

async function nameList<Item extends File | Folder>(
  connection: Connection,
  items: readonly Item[],
  asked: Asked,
  options: CallOptions | undefined,
  name: Name<Item>,
): Promise<Item[]> {
  const { folderId = "root" } = asked;
  const session = vaultSession(connection);
  const findHome = await session.homes.look();
  // Nothing leaves its vault: what lies in a folder lies where the folder does.
  const home = asked.vaultId ?? (folderId === "root" ? undefined : findHome(folderId)?.vaultId);
  const isOwn = ({ id, vaultId }: Item): boolean =>
    (home ?? vaultId) === vaultId && (findHome(id)?.vaultId ?? vaultId) === vaultId;
  const own = items.filter((item) => !isUnnamed(item) && isOwn(item));
  const named = new Map<Item, Item>();
  for (const vaultId of new Set(own.map((item) => item.vaultId))) {
    // Only the caller's own word has a vault pinned: no list does.
    const vault = await (vaultId === asked.vaultId ? session.find(vaultId, options) : session.look(vaultId, options));
    const there = own.filter((item) => item.vaultId === vaultId);
    for (const [at, item] of (await nameVault(vault, there, leniently(name))).entries())
      named.set(there[at] ?? item, item);
  }
  const list = items.map((item) => named.get(item) ?? (isUnnamed(item) ? item : unnamed(item, "vault_changed")));
  const wanted = asked.name?.normalize("NFC");
  if (wanted !== undefined && list.some((item) => isMisnamed(item, wanted)))
    throw new VaultError("damaged", "The service answers with another name than the one that was asked for", {
      step: "entry",
    });
  return list;
}

/** Names of public vaults are the service's own. */
function isMisnamed(item: File | Folder, wanted: string): boolean {
  return item.name !== wanted && (item.shared !== null || isUnnamed(item));
}

function filesOf(connection: Connection, place: Place = placeOf): Name<File> {
  const again = async (fileId: string) => (await callOn(connection, api.files.get, { params: { fileId } })).file;
  return async (vault, shown) => {
    const { item: file, metadata } = await openNewest(vault, "file", shown, place, again);
    const { name, contentType, size } = metadata;
    return { ...file, name, contentType, size, storedSize: file.size };
  };
}

function foldersOf(connection: Connection, place: Place = placeOf): Name<Folder> {
  const again = async (folderId: string) =>
    (await callOn(connection, api.folders.get, { params: { folderId } })).folder;
  return async (vault, shown) => {
    const { item: folder, metadata } = await openNewest(vault, "folder", shown, place, again);
    return { ...folder, name: metadata.name };
  };
}

/** What somebody on this machine has changed since the service showed it is asked for once more: it is not older, but was. */
async function openNewest<Item extends File | Folder>(
  vault: OpenVault,
  kind: EntryKind,
  shown: Item,
  place: Place,
  again: (id: string) => Promise<Item>,
): Promise<{ readonly item: Item; readonly metadata: OpenedEntry["metadata"] }> {
  try {
    return { item: shown, metadata: (await openItem(vault, kind, shown, place(shown))).metadata };
  } catch (error) {
    const failure = toVaultError(error);
    if (!(failure instanceof VaultError) || failure.code !== "rolled_back") throw error;
    const newest = await again(shown.id).catch((reason: unknown) => {
      throw reason instanceof ApiError ? error : reason;
    });
    const { statement, metadata } = await openItem(vault, kind, newest, placeOf(newest));
    // It was moved: what shows it in the place that was asked for is the older one.
    if (statement.folderId !== place(newest)) throw error;
    return { item: newest, metadata };
  }
}

async function nameVault<Item extends File | Folder>(
  vault: OpenVault | null,
  items: readonly Item[],
  name: Name<Item>,
): Promise<readonly Item[]> {
  if (vault === null) {
    requirePublic(items);
    return items;
  }
  try {
    await openKeysOf(vault, items);
    return await Promise.all(items.map((item) => name(vault, item)));
  } catch (error) {
    const failure = toVaultError(error);
    if (failure instanceof SdkError && CLOSED.has(failure.code))
      return items.map((item) => unnamed(item, failure.code));
    throw failure;
  }
}

type Name<Item> = (vault: OpenVault, item: Item) => Promise<Item>;

function leniently<Item extends File | Folder>(name: Name<Item>): Name<Item> {
  return async (vault, item) => {
    try {
      return await name(vault, item);
    } catch (error) {
      const failure = toVaultError(error);
      if (failure instanceof SdkError && isOfOne(failure)) return unnamed(item, failure.code);
      throw failure;
    }
  };
}

/** Another vault's entry is one item's matter; another owner or object is the vault's. */
function isOfOne(failure: SdkError): boolean {
  return UNTRUSTED.has(failure.code) || (failure instanceof VaultError && failure.step === "pins");
}

/** A vault that was pinned as public holds nothing encrypted: who says so now says something else than before. */
function requirePublic(items: readonly (File | Folder)[]): void {
  if (items.some(({ shared }) => shared !== null))
    throw new VaultError("vault_changed", "The service calls a vault shared that was public when it was first met");
}
