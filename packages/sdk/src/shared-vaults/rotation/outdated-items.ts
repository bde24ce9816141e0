/** Lists what is below the vault's current generation: the service names it, a page at a time, and every round asks again. */
import type { Folder } from "@coffer/contract";
import { parseEntryStatement, parseVersionStatement, type VaultView } from "@coffer/crypto";
import { fromBase64 } from "../../transfer/digest.ts";
import type { WireFile } from "../../storage/file.ts";
import type { Connection } from "../../connection/options.ts";
import { everyItem, FILES, FOLDERS } from "../../storage/items.ts";
import type { OpenVault } from "../open-vault.ts";
import { vaultError } from "../vault-error.ts";

export interface Outdated {
  /** Files and folders, in the trash too. */
  readonly total: number;
  /** Folders whose names change all at once; null: the top of the vault. Empty where names are plain. */
  readonly places: ReadonlyMap<string | null, OutdatedNames>;
}

/** Items that are current once their folder's names are: their content, if any, is current already. */
export interface OutdatedNames {
  readonly folders: number;
  readonly items: number;
}

export async function findOutdated(
  connection: Connection,
  vault: OpenVault,
  view: VaultView,
  signal: AbortSignal | undefined,
): Promise<Outdated> {
  const places = new Map<string | null, OutdatedNames>();
  let total = 0;
  const count = (item: WireFile | Folder): void => {
    total += 1;
    if (item.trashedAt !== null || view.plainNames || !isOutdatedEntry(item, view)) return;
    const isFile = "folderId" in item;
    const place = isFile ? item.folderId : item.parentId;
    const { folders, items } = places.get(place) ?? { folders: 0, items: 0 };
    const isDone = !isFile || !isOutdatedVersion(item, view);
    places.set(place, { folders: folders + (isFile ? 0 : 1), items: items + (isDone ? 1 : 0) });
  };
  for await (const folder of outdatedFolders(connection, vault, view, signal)) count(folder);
  for await (const file of outdatedFiles(connection, vault, view, signal)) count(file);
  return { total, places };
}

/** Items whose content or name is below the generation. */
export async function* outdatedFiles(
  connection: Connection,
  { id }: OpenVault,
  view: VaultView,
  signal: AbortSignal | undefined,
): AsyncGenerator<WireFile, void, undefined> {
  for await (const file of everyItem(connection, FILES, id, signal))
    if (isOutdatedVersion(file, view) || isOutdatedEntry(file, view)) yield file;
}

export async function* outdatedFolders(
  connection: Connection,
  { id }: OpenVault,
  view: VaultView,
  signal: AbortSignal | undefined,
): AsyncGenerator<Folder, void, undefined> {
  for await (const folder of everyItem(connection, FOLDERS, id, signal))
    if (isOutdatedEntry(folder, view)) yield folder;
}

/** @throws VaultError `not_encrypted` for an item without statements. */
export function isOutdatedVersion({ id, shared }: WireFile, view: VaultView): boolean {
  return parseVersionStatement(requireBytes(id, shared?.version)).generation < view.generation;
}

export function isOutdatedEntry({ id, shared }: WireFile | Folder, view: VaultView): boolean {
  return parseEntryStatement(requireBytes(id, shared?.entry)).generation < view.generation;
}

function requireBytes(id: string, text: string | undefined): Uint8Array {
  const bytes = fromBase64(text ?? "");
  if (text === undefined || bytes === null)
    throw vaultError("not_encrypted", `The service shows ${id} of a shared vault without its statements`);
  return bytes;
}
