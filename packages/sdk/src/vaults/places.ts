/** The vault of a file or folder that is named by its id alone: the service says which, and is held to what was seen before. */
import { clientApi as api, type File, type Folder } from "@coffer/contract";
import { callOn, type CallOptions } from "../call.ts";
import type { Connection } from "../options.ts";
import { openItem, placeOf } from "./entries.ts";
import type { OpenVault } from "./open-vault.ts";
import { VaultError } from "./vault-error.ts";
import { findOpenVault, vaultSession } from "./vault-session.ts";

/**
 * The vault that the service shows the item in, opened; null for a public one. Nothing ever moves to another vault, so an item that was
 * read in a shared one stays there, whatever the service says later: else its next version or name would go to where the service wants it.
 * `itemId`: the one that was asked for. `wanted`: the vault that the caller knows it to be in, also in a process that has not met it before.
 * @throws VaultError `vault_changed`.
 */
export async function findVaultOf(
  connection: Connection,
  itemId: string,
  item: Pick<File | Folder, "id" | "vaultId" | "shared">,
  options?: CallOptions,
  wanted: string = item.vaultId,
): Promise<OpenVault | null> {
  if (connection.sharedVaults === null) return null;
  // Nothing is known of the one that it shows instead, and what is meant for the other would go there.
  if (item.id !== itemId.toLowerCase())
    throw new VaultError("vault_changed", `${itemId} was asked for, and the service shows ${item.id} in its place`);
  if (wanted !== item.vaultId)
    throw new VaultError(
      "vault_changed",
      `${item.id} was named in vault ${wanted}, and the service shows it in vault ${item.vaultId}`,
    );
  const session = vaultSession(connection);
  const home = session.homeOf(item.id);
  if (home !== null && home !== item.vaultId)
    throw new VaultError(
      "vault_changed",
      `${item.id} was read in vault ${home}, and the service shows it in vault ${item.vaultId} now`,
    );
  const vault = await session.find(item.vaultId, options);
  if (vault === null && item.shared !== null)
    throw new VaultError(
      "vault_changed",
      "The vault was public when it was first met, and the service shows it as shared now",
    );
  return vault;
}

/**
 * The vault that something is put or looked for in: the one that is named, else the folder's; null for a public one, as without either.
 * Where the folder alone is named and its vault is shared, the folder's signed entry must say so too: what is put there is encrypted for
 * that vault's members. @throws VaultError `vault_changed`, and as opening an entry does.
 */
export async function findVaultOfPlace(
  connection: Connection,
  { vaultId, folderId }: { readonly vaultId?: string | undefined; readonly folderId?: string | undefined },
  options?: CallOptions,
): Promise<OpenVault | null> {
  if (vaultId !== undefined) return findOpenVault(connection, vaultId, options);
  if (connection.sharedVaults === null || folderId === undefined) return null;
  const { folder } = await callOn(connection, api.folders.get, { params: { folderId } }, options);
  const vault = await findVaultOf(connection, folderId, folder, options);
  if (vault !== null) await openItem(vault, "folder", folder, placeOf(folder));
  return vault;
}
