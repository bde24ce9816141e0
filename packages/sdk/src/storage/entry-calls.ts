/** The past of names and places of files and folders. */
import { fileEntriesGroup, folderEntriesGroup } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import type { Query } from "../connection/call-fields.ts";
import type { Entry, EntryPage } from "./items.ts";

type EntryQuery = Query<typeof fileEntriesGroup.entries>;

export function entryCalls(connection: Connection) {
  const { entries: ofFile } = fileEntriesGroup;
  const { entries: ofFolder } = folderEntriesGroup;
  const shown = async <Kind extends Entry>(
    item: { readonly kind: "file" | "folder"; readonly id: string },
    { cursor }: EntryQuery,
    read: () => Promise<EntryPage<Kind>>,
  ) =>
    connection.sharedVaults === null
      ? withoutClaims(await read())
      : (await sharedCode(connection)).verifyEntries(connection, { ...item, isFirstPage: cursor === undefined }, read);
  return {
    fileEntries: (fileId: string, query: EntryQuery, options?: CallOptions) =>
      shown({ kind: "file", id: fileId }, query, () =>
        callOn(connection, ofFile, { params: { fileId }, query }, options),
      ),
    folderEntries: (folderId: string, query: EntryQuery, options?: CallOptions) =>
      shown({ kind: "folder", id: folderId }, query, () =>
        callOn(connection, ofFolder, { params: { folderId }, query }, options),
      ),
  };
}

/** A client that cannot verify what members signed shows nobody as the author. */
function withoutClaims<Kind extends Entry>({ entries, nextCursor }: EntryPage<Kind>): EntryPage<Kind> {
  return { entries: entries.map((entry) => (entry.shared === null ? entry : { ...entry, author: null })), nextCursor };
}
