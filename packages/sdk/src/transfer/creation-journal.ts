/** Unfinished creations of shared vaults, in a profile store: a crash must not leave a second vault object on the chain. */
import type { ProfileStore } from "../store/profile-store.ts";
import type { CreationJournal } from "./journals.ts";

/**
 * Keeps signed transactions in the table `creations` until their vaults are made. They hold no secret.
 * @throws SdkError `configuration` for a damaged table: without the record, a repeat would make a second object.
 */
export function creationJournal(store: ProfileStore): CreationJournal {
  const textOf = (value: Uint8Array | null): string | null => (value === null ? null : new TextDecoder().decode(value));
  return {
    load: async (creation) => textOf(await store.table("creations").get(creation)),
    replace: (creation, before, kept) =>
      store.table("creations").update([creation], (rows) => {
        if (textOf(rows.get(creation) ?? null) !== before) return { result: false };
        const value = kept === null ? null : new TextEncoder().encode(kept);
        return { result: true, changes: [{ key: creation, value }] };
      }),
  };
}
