/** The calls of a file about its versions. */
import { versionsGroup } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { CallOptions, Connection, UpdateOptions } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import type { Query } from "../connection/call-fields.ts";
import { itemCalls } from "./item-calls.ts";
import { FILES, matching } from "./items.ts";
import { deleteWithProof } from "./owner-proof.ts";
import type { File as NamedFile } from "../connection/result-types.ts";

export function versionCalls(connection: Connection) {
  const { versions, restoreVersion, deleteVersion } = versionsGroup;
  const { one } = itemCalls(connection, FILES);
  const ofShared = () => (connection.sharedVaults === null ? null : sharedCode(connection));
  return {
    versions: async (fileId: string, query: Query<typeof versions>, options?: CallOptions) => {
      const shared = await ofShared();
      if (shared !== null) return shared.listVersions(connection, fileId, query, options);
      const page = await callOn(connection, versions, { params: { fileId }, query }, options);
      // A client that cannot verify what members signed shows nobody as the author.
      return {
        ...page,
        versions: page.versions.map((each) => (each.shared === null ? each : { ...each, author: null })),
      };
    },
    restoreVersion: async (fileId: string, sourceId: string, placing: UpdateOptions = {}): Promise<NamedFile> => {
      const { ifMatch, vaultId, ...options } = placing;
      const restored = await (await ofShared())?.restorePast(connection, fileId, sourceId, placing);
      if (restored != null) return restored;
      const input = { params: { fileId, sourceId }, headers: matching(ifMatch) };
      const { file } = await callOn(connection, restoreVersion, input, options);
      return one(file, { ...options, vaultId });
    },
    deleteVersion: (fileId: string, versionId: string, options?: CallOptions): Promise<void> =>
      deleteWithProof(
        connection,
        { act: "delete-version", fileId, versionId },
        async (headers) => {
          await callOn(connection, deleteVersion, { params: { fileId, versionId }, headers }, options);
        },
        options,
      ),
  };
}
