/** The search over names that the service can read. */
import { searchGroup } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import type { Query } from "../http/endpoint-types.ts";
import { FILES, withoutClaims } from "../storage/items.ts";

/** A page of what the service returns. Names of shared vaults are verified like those of a list. */
export async function searchAtService(
  connection: Connection,
  query: Query<typeof searchGroup.search>,
  options?: CallOptions,
) {
  const page = await callOn(connection, searchGroup.search, { query }, { ...options, isBelow: true });
  if (connection.sharedVaults === null) return { ...page, files: page.files.map(withoutClaims) };
  const { nameItems } = await sharedCode(connection);
  const scope = { vaultId: query.vaultId, trashed: query.trashed };
  return { ...page, files: await nameItems(connection, FILES, page.files, scope, options) };
}
