/** The versions of a file. */
import { versionsGroup } from "@coffer/contract";
import type { CallOptions, Connection, UpdateOptions } from "../connection/options.ts";
import { sharedCodeOrNull } from "../connection/shared-code.ts";
import { callOn } from "../http/call.ts";
import type { Query } from "../http/endpoint-types.ts";
import { ItemCalls } from "./item-calls.ts";
import type { File } from "./item-types.ts";
import { FILES, ifMatchHeader } from "./items.ts";
import { withOwnerProof } from "./owner-proof.ts";

export async function listVersions(
  connection: Connection,
  fileId: string,
  query: Query<typeof versionsGroup.versions>,
  options?: CallOptions,
) {
  const code = await sharedCodeOrNull(connection);
  if (code !== null) return code.listVersions(connection, fileId, query, options);
  const page = await callOn(connection, versionsGroup.versions, { params: { fileId }, query }, options);
  // A client that cannot verify what members signed shows nobody as the author.
  const versions = page.versions.map((each) => (each.shared === null ? each : { ...each, author: null }));
  return { ...page, versions };
}

export async function restoreVersion(
  connection: Connection,
  fileId: string,
  versionId: string,
  updateOptions: UpdateOptions = {},
): Promise<File> {
  const { ifMatch, vaultId, ...options } = updateOptions;
  const code = await sharedCodeOrNull(connection);
  const restored = await code?.restorePast(connection, fileId, versionId, updateOptions);
  if (restored != null) return restored;
  const input = { params: { fileId, sourceId: versionId }, headers: ifMatchHeader(ifMatch) };
  const { file } = await callOn(connection, versionsGroup.restoreVersion, input, options);
  return new ItemCalls(connection, FILES).named(file, { ...options, vaultId });
}

export function deleteVersion(
  connection: Connection,
  fileId: string,
  versionId: string,
  options?: CallOptions,
): Promise<void> {
  const params = { fileId, versionId };
  return withOwnerProof(
    connection,
    { act: "delete-version", fileId, versionId },
    (headers) => callOn(connection, versionsGroup.deleteVersion, { params, headers }, options),
    options,
  );
}
