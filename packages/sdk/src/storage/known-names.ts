/** The entry point for names of shared vaults: loaded for clients that can open them, and skipped for the others. */
import type { Connection, CallOptions } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";

/** Changes entries of shared vaults, for clients that can; null for the others. */
export async function sharedChanges(connection: Connection) {
  return connection.sharedVaults === null ? null : sharedCode(connection);
}

/** A name becomes its blind index if the service sees no names; null: nothing with that name can be there. */
export async function toKnownNames<
  Wanted extends { readonly vaultId?: string | undefined; readonly name?: string | undefined },
>(connection: Connection, query: Wanted, folder: string | undefined, options?: CallOptions) {
  if (connection.sharedVaults === null || query.name === undefined) return query;
  return (await sharedCode(connection)).toIndexQuery(connection, query, folder, options);
}

/**
 * In a list, an item that was not asked for hides no others. A search for a name is different: its caller goes on with
 * the items found.
 */
export function eachUnnamed(query: { readonly name?: string | undefined }, options?: CallOptions) {
  return { ...options, eachByItself: query.name === undefined };
}
