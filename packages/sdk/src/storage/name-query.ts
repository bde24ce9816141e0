/** Lists by name, in vaults whose names the service does not see. */
import type { CallOptions, Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";

interface NameQuery {
  readonly vaultId?: string | undefined;
  readonly name?: string | undefined;
}

/** A name becomes its blind index if the service sees no names; null: nothing with that name can be there. */
export async function indexQuery<Query extends NameQuery>(
  connection: Connection,
  query: Query,
  folder: string | undefined,
  options?: CallOptions,
) {
  if (connection.sharedVaults === null || query.name === undefined) return query;
  return (await sharedCode(connection)).toIndexQuery(connection, query, folder, options);
}

/**
 * In a list, an item that was not asked for hides no others. A search for a name is different: its caller goes on with
 * the items of the answer.
 */
export function listingOptions({ name }: NameQuery, options?: CallOptions) {
  return { ...options, eachByItself: name === undefined };
}
