/** The calls of a public vault's file about its versions. */
import { versionsGroup } from "@coffer/contract/versions";
import { callOn } from "../call.ts";
import type { File } from "../file.ts";
import type { CallOptions, Connection } from "../options.ts";
import type { Query } from "./calling.ts";
import { itemCalls } from "./item-calls.ts";
import { FILES } from "./items.ts";

export function versionCalls(connection: Connection) {
  const { versions, restoreVersion, deleteVersion } = versionsGroup;
  const { one } = itemCalls(connection, FILES);
  return {
    versions: (fileId: string, query: Query<typeof versions>, options?: CallOptions) =>
      callOn(connection, versions, { params: { fileId }, query }, options),
    restoreVersion: async (fileId: string, sourceId: string, options?: CallOptions): Promise<File> => {
      const { file } = await callOn(connection, restoreVersion, { params: { fileId, sourceId } }, options);
      return one(file, options);
    },
    deleteVersion: async (fileId: string, versionId: string, options?: CallOptions): Promise<void> => {
      await callOn(connection, deleteVersion, { params: { fileId, versionId } }, options);
    },
  };
}
