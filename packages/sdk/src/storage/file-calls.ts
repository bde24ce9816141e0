/** The calls behind FileResource that move no bytes: they decrypt names of shared vaults. */
import { filesGroup } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { FileChanges } from "./file.ts";
import type { CallOptions, Connection, FileDeletion, UpdateOptions } from "../connection/options.ts";
import type { Query } from "../connection/call-fields.ts";
import { deleteWithProof } from "./owner-proof.ts";
import { entryCalls } from "./entry-calls.ts";
import { itemCalls } from "./item-calls.ts";
import { FILES, matching, withoutClaims } from "./items.ts";
import { versionCalls } from "./version-calls.ts";
import { eachUnnamed, toKnownNames } from "./known-names.ts";
import { sharedCode } from "../connection/shared-code.ts";

export function fileCalls(connection: Connection) {
  const { list } = filesGroup;
  const { one, get, update, restore } = itemCalls(connection, FILES);
  return {
    get,
    restore,
    ...versionCalls(connection),
    entries: entryCalls(connection).fileEntries,
    list: async (query: Query<typeof list>, options?: CallOptions) => {
      const wanted = await toKnownNames(connection, query, query.folderId, options);
      if (wanted === null) return { files: [], nextCursor: null };
      const page = await callOn(connection, list, { query: wanted }, eachUnnamed(query, options));
      if (connection.sharedVaults === null) return { ...page, files: page.files.map(withoutClaims) };
      const { nameItems } = await sharedCode(connection);
      return { ...page, files: await nameItems(connection, FILES, page.files, query, options) };
    },
    update: (fileId: string, given: FileChanges, updating: UpdateOptions = {}) =>
      update(fileId, { name: given.name, parentId: given.folderId }, { ...updating, given }),
    delete: async (fileId: string, { permanent, ifMatch, ...options }: FileDeletion = {}) => {
      const query = permanent === undefined ? {} : { permanent };
      const deleted = await deleteWithProof(
        connection,
        { act: "delete-file", fileId },
        (proof) => {
          const headers = { ...proof, ...matching(ifMatch) };
          return callOn(connection, filesGroup.delete, { params: { fileId }, query, headers }, options);
        },
        options,
      );
      return deleted === undefined ? null : one(deleted.file, options);
    },
  };
}
