/** Folders that come back from the trash. */
import type { SharedEntry } from "@coffer/contract";
import { ServiceError } from "../../service-error.ts";
import type { Queries } from "../../ports/database.ts";
import { parseEntryStatement } from "../shared-vaults/statements.ts";
import { findFolderKey, type FolderOfVault, liveEntries } from "./store.ts";
import { type SwitchingFolder, trashedEntries } from "./switching-store.ts";
import { resetFolderKey } from "./staged-store.ts";

/**
 * One by one entries may have been rotated while they were in the trash. Those that come back into the folder together must be under one
 * key.
 * @throws ServiceError `names_outdated`.
 */
export async function requireOneKey(queries: Queries, folder: SwitchingFolder, trashedWith: string): Promise<void> {
  let found: string | null = null;
  for await (const sharedJson of trashedEntries(queries, folder, trashedWith)) {
    const keyId = keyIn(sharedJson);
    if (found !== null && found !== keyId)
      throw new ServiceError(
        "names_outdated",
        "The folder's entries are under several keys: rotate them in the trash first",
      );
    found = keyId;
  }
}

/** Makes the key of a folder's entries, which are all under one, the folder's. */
export async function adoptEntriesKey(transaction: Queries, folder: FolderOfVault): Promise<void> {
  const first = await liveEntries(transaction, folder).next();
  if (first.done === true || first.value.shared_json === null) return;
  const keyId = keyIn(first.value.shared_json);
  if (keyId !== (await findFolderKey(transaction, folder))) await resetFolderKey(transaction, folder, keyId);
}

function keyIn(sharedJson: string): string {
  return parseEntryStatement((JSON.parse(sharedJson) as SharedEntry).entry).keyId;
}
