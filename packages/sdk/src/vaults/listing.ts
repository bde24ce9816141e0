/** Files and folders of shared vaults with the names and sizes that only members can read. */
import type { Folder } from "@coffer/contract";
import type { CallOptions } from "../call.ts";
import { SdkError } from "../errors.ts";
import type { File } from "../file.ts";
import type { Connection } from "../options.ts";
import { openItem, openKeysOf, placeOf } from "./entries.ts";
import type { OpenVault } from "./open-vault.ts";
import { toVaultError, VaultError } from "./vault-error.ts";
import { findOpenVault, vaultSession } from "./vault-session.ts";

/** What a caller who is no member sees: ids, stored sizes, dates (decisions §0). */
const CLOSED: ReadonlySet<string> = new Set(["not_a_member", "key_servers_unavailable", "key_servers_behind"]);

/** Each with its name, content type and size where this client can open it; as the service shows it where it cannot. */
export async function nameFiles(
  connection: Connection,
  files: readonly File[],
  options?: CallOptions,
): Promise<File[]> {
  return nameAll(connection, files, options, nameFile);
}

export async function nameFolders(
  connection: Connection,
  folders: readonly Folder[],
  options?: CallOptions,
): Promise<Folder[]> {
  return nameAll(connection, folders, options, nameFolder);
}

async function nameFile(vault: OpenVault, file: File): Promise<File> {
  const { metadata } = await openItem(vault, "file", file, placeOf(file));
  return {
    ...file,
    name: metadata.name,
    contentType: metadata.contentType,
    size: metadata.size,
    storedSize: file.size,
  };
}

async function nameFolder(vault: OpenVault, folder: Folder): Promise<Folder> {
  const { metadata } = await openItem(vault, "folder", folder, placeOf(folder));
  return { ...folder, name: metadata.name };
}

async function nameAll<Item extends File | Folder>(
  connection: Connection,
  items: readonly Item[],
  options: CallOptions | undefined,
  name: (vault: OpenVault, item: Item) => Promise<Item>,
): Promise<Item[]> {
  const named = new Map<string, Item>();
  for (const vaultId of new Set(items.map((item) => item.vaultId))) {
    const own = items.filter((item) => item.vaultId === vaultId);
    for (const item of await nameVault(connection, vaultId, own, options, name)) named.set(item.id, item);
  }
  return items.map((item) => named.get(item.id) ?? item);
}

async function nameVault<Item extends File | Folder>(
  connection: Connection,
  vaultId: string,
  items: readonly Item[],
  options: CallOptions | undefined,
  name: (vault: OpenVault, item: Item) => Promise<Item>,
): Promise<readonly Item[]> {
  const vault = await findOpenVault(connection, vaultId, options);
  if (vault === null) {
    requirePublic(items, connection);
    return items;
  }
  try {
    await openKeysOf(vault, items);
    return await Promise.all(items.map((item) => name(vault, item)));
  } catch (error) {
    const failure = toVaultError(error);
    if (failure instanceof SdkError && CLOSED.has(failure.code)) return items;
    throw failure;
  }
}

/** A vault that was pinned as public holds nothing encrypted: who says so now says something else than before. */
function requirePublic(items: readonly (File | Folder)[], connection: Connection): void {
  vaultSession(connection);
  if (items.some(({ shared }) => shared !== null))
    throw new VaultError(
      "vault_changed",
      "The vault was public when it was first met, and the service shows it as shared now",
    );
}
