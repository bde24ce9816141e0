/**
 * The vault of an item that an id names, and of a new item: this machine's memory decides, not the service (encryption
 * design §7).
 */
import type { File, Folder } from "@coffer/contract";
import type { VaultError } from "../../http/errors.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import type { OpenVault } from "../open-vault.ts";
import { vaultError } from "../vault-error.ts";
import { vaultRegistry } from "../client-vaults.ts";

export interface HeldOptions extends CallOptions {
  /** The vault that the caller names for the item. */
  readonly vaultId?: string | undefined;
}

/** What a caller does with an item that it names by its id. */
export interface NamedItem extends HeldOptions {
  /** Content or a name goes there: only if the caller, or this machine's memory, names that vault. */
  readonly sends: boolean;
}

/**
 * The vault that the service shows the item in, opened; null for a public one, and for clients without `sharedVaults`.
 * Nothing ever moves to another vault. So an item that any process of this machine has seen in one stays there,
 * whatever the service says later. Otherwise its next version or name would go wherever the service wants it. The
 * service's word alone is enough to read, and pins nothing.
 * @throws VaultError `vault_changed`; `vault_required` for a write into a vault that only the service names.
 */
export async function findVaultOf(
  connection: Connection,
  item: Pick<File | Folder, "id" | "vaultId" | "shared">,
  { vaultId: named, sends, ...options }: NamedItem,
): Promise<OpenVault | null> {
  if (connection.sharedVaults === null) return null;
  requireVault(item, named);
  const isKnown = await liesIn(connection, item.id, item.vaultId);
  if (sends && !isKnown && named === undefined) throw unknownPlace(item.id);
  const registry = vaultRegistry(connection);
  const vault = await (named === undefined
    ? registry.findUnpinned(item.vaultId, options)
    : registry.find(named, options));
  if (vault !== null) return vault;
  if (item.shared !== null)
    throw vaultError(
      "vault_changed",
      "The vault was public when this client first met it, and now the service shows it as shared",
    );
  // The caller's own word, and not the service's.
  if (!isKnown && named !== undefined) await registry.homes.recordPublic((await registry.open(named)).pin, item.id);
  return null;
}

/** Where something is put or looked for. */
export interface NamedLocation {
  readonly vaultId?: string | undefined;
  readonly folderId?: string | undefined;
}

export interface ResolvedLocation {
  readonly vaultId: string;
  /** null: a public vault. */
  readonly vault: OpenVault | null;
}

/**
 * The named vault, else the folder's vault in this machine's memory: it does not ask the service, whose word would not
 * count. null for clients without `sharedVaults`, which use the place that the service names.
 * @throws VaultError `vault_required` if neither is named, or this machine has not seen the folder; `vault_changed`.
 */
export async function findPlace(
  connection: Connection,
  { vaultId, folderId }: NamedLocation,
  options?: CallOptions,
): Promise<ResolvedLocation | null> {
  if (connection.sharedVaults === null) return null;
  if (vaultId === undefined && folderId === undefined) throw vaultRequired("No vault and no folder is named");
  const registry = vaultRegistry(connection);
  if (vaultId !== undefined) {
    if (folderId !== undefined) await liesIn(connection, folderId, vaultId);
    return { vaultId, vault: await registry.find(vaultId, options) };
  }
  const home = folderId === undefined ? null : (await registry.homes.read())(folderId);
  if (home === null) throw unknownPlace(folderId ?? "");
  return { vaultId: home.vaultId, vault: await registry.find(home.vaultId, options) };
}

/**
 * For an item put into a public vault. Its id is the service's own word, so the memory keeps nothing of it.
 * @throws VaultError `vault_changed` for an id that is another item's, or another vault.
 */
export async function requireCreated(
  connection: Connection,
  vaultId: string,
  item: Pick<File | Folder, "id" | "vaultId">,
): Promise<void> {
  requireVault(item, vaultId);
  await liesIn(connection, item.id, vaultId);
}

/**
 * For an answer: the caller named the item's place, or an earlier answer showed it.
 * @throws VaultError `vault_changed`.
 */
export function requireVault({ id, vaultId }: Pick<File | Folder, "id" | "vaultId">, named: string | undefined): void {
  if (named === undefined || named === vaultId) return;
  const message = `${id} was named or shown in vault ${named}, and the service shows it in vault ${vaultId}`;
  throw vaultError("vault_changed", message);
}

/**
 * Whether this machine has it there. False: it has not seen it at all.
 * @throws VaultError `vault_changed` when it has it elsewhere.
 */
export async function liesIn(connection: Connection, itemId: string, vaultId: string): Promise<boolean> {
  const home = (await vaultRegistry(connection).homes.read())(itemId);
  if (home === null) return false;
  if (home.vaultId === vaultId) return true;
  throw vaultError(
    "vault_changed",
    `${itemId} was seen in vault ${home.vaultId}, and the service or the call has it in vault ${vaultId}`,
  );
}

function unknownPlace(itemId: string): VaultError {
  return vaultRequired(`Only the service says in which vault ${itemId} lies`);
}

/** A client with `sharedVaults` has no default vault: content for members would go there unencrypted. */
export function vaultRequired(message: string): VaultError {
  return vaultError("vault_required", `${message}, and nothing was sent`);
}
