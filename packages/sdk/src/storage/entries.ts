/** The names and places that files and folders had. */
import type { Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import type { Entry, EntryPage } from "./items.ts";

/** A page of entries as this client may show it. A client that cannot verify what members signed shows nobody as the author. */
export async function verifiedEntries<Kind extends Entry>(
  connection: Connection,
  item: { readonly kind: "file" | "folder"; readonly id: string },
  { cursor }: { readonly cursor?: string | undefined },
  read: () => Promise<EntryPage<Kind>>,
): Promise<EntryPage<Kind>> {
  if (connection.sharedVaults !== null) {
    const { verifyEntries } = await sharedCode(connection);
    return verifyEntries(connection, { ...item, isFirstPage: cursor === undefined }, read);
  }
  const { entries, nextCursor } = await read();
  return { entries: entries.map((entry) => (entry.shared === null ? entry : { ...entry, author: null })), nextCursor };
}
