/** Folders that come back from the trash. */
import type { SharedEntry } from "@coffer/contract";
import { ServiceError } from "../../service-error.ts";
import type { Queries } from "../../ports/database.ts";
import { parseEntryStatement } from "../shared-vaults/statements.ts";
import { findFolderKey, type FolderOfVault, liveEntries } from "./store.ts";
import { resetFolderKey } from "./staged-store.ts";

/**
 * Makes the key of a folder's entries the folder's: one by one they may have been rotated while they were in the trash.
 * @throws ServiceError `names_outdated` for entries under more than one key.
 */
export async function alignFolderKey(transaction: Queries, folder: FolderOfVault): Promise<void> {
  let found: string | null = null;
  for await (const { shared_json } of liveEntries(transaction, folder)) {
    if (shared_json === null) continue;
    const { keyId } = parseEntryStatement((JSON.parse(shared_json) as SharedEntry).entry);
    if (found !== null && found !== keyId)
      throw new ServiceError(
        "names_outdated",
        "The folder's entries are under several keys: rotate them in the trash first",
      );
    found = keyId;
  }
  if (found !== null && found !== (await findFolderKey(transaction, folder)))
    await resetFolderKey(transaction, folder, found);
}
