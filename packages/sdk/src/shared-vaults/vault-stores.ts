import { nameStore, type NameStore } from "../search/name-store.ts";
import type { ProfileStore } from "../store/profile-store.ts";
import { creationJournal } from "../transfer/creation-journal.ts";
import type { CreationJournal, UploadJournals } from "../transfer/journals.ts";
import { uploadJournals } from "../transfer/upload-journal.ts";
import { pinStore } from "./trust/pin-store.ts";
import type { PinStore } from "./trust/pins.ts";
import { seenStore, type SeenStoreOptions } from "./trust/seen-store.ts";
import type { SeenStore } from "./trust/seen-memory.ts";

/** The options of `sharedVaults` that say what outlives the process. */
export interface VaultStores {
  readonly pins: PinStore;
  readonly seen: SeenStore;
  readonly names: NameStore;
  readonly creations: CreationJournal;
  readonly uploads: UploadJournals;
}

/**
 * What a client of shared vaults keeps, in one profile store. `openSharedVaults` of `@coffer/sdk/node` does it for you.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl, sharedVaults: sharedVaults({ signer, network, ...vaultStores(memoryStore()) }) });
 * ```
 */
export function vaultStores(store: ProfileStore, options: SeenStoreOptions = {}): VaultStores {
  return {
    pins: pinStore(store),
    seen: seenStore(store, options),
    names: nameStore(store),
    creations: creationJournal(store),
    uploads: uploadJournals(store),
  };
}
