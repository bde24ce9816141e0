/** The local indexes of one client: made when a search first needs them. */
import type { Connection } from "../connection/options.ts";
import { SdkError } from "../http/errors.ts";
import { toVaultError } from "../shared-vaults/vault-terms.ts";
import { vaultRegistry } from "../shared-vaults/client-vaults.ts";
import { type IndexedNames, NameIndex, type IndexReadOptions } from "./name-index.ts";

const indexes = new WeakMap<Connection, Map<string, NameIndex>>();

function indexOf(connection: Connection, vaultId: string): NameIndex {
  const ofClient = indexes.get(connection) ?? new Map<string, NameIndex>();
  indexes.set(connection, ofClient);
  const index = ofClient.get(vaultId) ?? new NameIndex(connection, vaultId);
  ofClient.set(vaultId, index);
  return index;
}

/** The side that searches a vault. */
export type SearchSide =
  | { readonly by: "service" }
  /** null: its index is not whole yet. */
  | { readonly by: "client"; readonly names: IndexedNames | null };

/**
 * By this client's pin and the chain, not by what the service calls the vault. An index is deleted when its vault is no
 * longer open to this client. `isNamed`: the caller has named the vault, which pins it.
 * @throws VaultError, ApiError.
 */
export async function openIndex(
  connection: Connection,
  vaultId: string,
  options: IndexReadOptions & { readonly isNamed: boolean },
): Promise<SearchSide> {
  const registry = vaultRegistry(connection);
  const index = indexOf(connection, vaultId);
  try {
    const vault = await (options.isNamed
      ? registry.find(vaultId, options.options)
      : registry.findUnpinned(vaultId, options.options));
    if (vault === null || (await vault.view()).plainNames) return { by: "service" };
    return { by: "client", names: await index.read(vault, options) };
  } catch (error) {
    const failure = toVaultError(error);
    if (failure instanceof SdkError && CLOSED.has(failure.code)) await index.delete();
    throw failure;
  }
}

/** Access is over, or the vault is gone. */
const CLOSED: ReadonlySet<string> = new Set(["not_a_member", "membership_ended", "not_found"]);

/**
 * Vaults that this client opens, whatever the service calls them: those pinned as shared that are listed, or that have
 * an index.
 */
export async function indexedVaults(
  connection: Connection,
  listed: ReadonlyMap<string, unknown>,
): Promise<readonly string[]> {
  const pins = await vaultRegistry(connection).pins.list(connection.service.origin);
  const indexed = new Set(await connection.sharedVaults?.names?.list());
  return pins.flatMap(({ shared, vaultId: id }) => (shared && (listed.has(id) || indexed.has(id)) ? [id] : []));
}
