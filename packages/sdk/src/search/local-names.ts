/** The local indexes of one client: made when a search first needs them. */
import type { Connection } from "../connection/options.ts";
import { SdkError } from "../http/errors.ts";
import { toVaultError } from "../shared-vaults/vault-terms.ts";
import { vaultRegistry } from "../shared-vaults/client-vaults.ts";
import { NameIndex, type Patience } from "./name-index.ts";
import type { NameTable } from "./name-table.ts";

const indexes = new WeakMap<Connection, Map<string, NameIndex>>();

function indexOf(connection: Connection, vaultId: string): NameIndex {
  const known = indexes.get(connection) ?? new Map<string, NameIndex>();
  indexes.set(connection, known);
  const index = known.get(vaultId) ?? new NameIndex(connection, vaultId);
  known.set(vaultId, index);
  return index;
}

/** The side that searches a vault. */
export type OpenedNames =
  | { readonly by: "service" }
  /** null: its index is not whole yet. */
  | { readonly by: "client"; readonly table: NameTable | null };

/**
 * By this client's pin and the chain, not by what the service calls the vault. An index is deleted when its vault is no
 * longer open to this client. `isNamed`: the caller has named the vault, which pins it.
 * @throws VaultError, ApiError.
 */
export async function openNames(
  connection: Connection,
  vaultId: string,
  patience: Patience & { readonly isNamed: boolean },
): Promise<OpenedNames> {
  const registry = vaultRegistry(connection);
  const index = indexOf(connection, vaultId);
  try {
    const vault = await (patience.isNamed
      ? registry.find(vaultId, patience.options)
      : registry.findUnpinned(vaultId, patience.options));
    if (vault === null || (await vault.view()).plainNames) return { by: "service" };
    return { by: "client", table: await index.read(vault, patience) };
  } catch (error) {
    const failure = toVaultError(error);
    if (failure instanceof SdkError && LOST.has(failure.code)) await index.forget();
    throw failure;
  }
}

/** Access is over, or the vault is gone. */
const LOST: ReadonlySet<string> = new Set(["not_a_member", "membership_ended", "not_found"]);

/**
 * Vaults that this client opens, whatever the service calls them: those pinned as shared that are listed, or that have
 * an index.
 */
export async function keptVaults(
  connection: Connection,
  listed: ReadonlyMap<string, unknown>,
): Promise<readonly string[]> {
  const pins = await vaultRegistry(connection).pins.list(connection.place.origin);
  const indexed = new Set(await connection.sharedVaults?.names?.list());
  return pins.flatMap(({ shared, vaultId: id }) => (shared && (listed.has(id) || indexed.has(id)) ? [id] : []));
}
