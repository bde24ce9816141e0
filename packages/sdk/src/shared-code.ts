/**
 * The rest of the SDK reaches the code of shared vaults only through a client's `sharedVaults`, so that no bundle
 * holds it by accident.
 */
import type * as Deletions from "./vaults/deletion-proof.ts";
import type * as Downloads from "./vaults/content/download.ts";
import type * as Uploads from "./vaults/content/upload.ts";
import type * as Entries from "./vaults/names/past-entries.ts";
import type * as Changes from "./vaults/names/changes.ts";
import type * as Finding from "./vaults/names/finding.ts";
import type * as Listing from "./vaults/names/listing.ts";
import type * as Many from "./vaults/names/many.ts";
import type * as Versions from "./vaults/content/past-versions.ts";
import type * as Names from "./search/local-names.ts";
import type * as Places from "./vaults/names/places.ts";
import type * as Calls from "./vaults/vault-calls.ts";
import type * as Sessions from "./vaults/vault-session.ts";
import { VaultError } from "./errors.ts";
import { HOW_TO_OPEN } from "./how-to-open.ts";
import type { Connection } from "./options.ts";

/** Each part is loaded when it is first used. */
export interface SharedCode {
  readonly calls: () => Promise<typeof Calls>;
  readonly changes: () => Promise<typeof Changes>;
  readonly deletions: () => Promise<typeof Deletions>;
  readonly downloads: () => Promise<typeof Downloads>;
  readonly entries: () => Promise<typeof Entries>;
  readonly finding: () => Promise<typeof Finding>;
  readonly listing: () => Promise<typeof Listing>;
  readonly many: () => Promise<typeof Many>;
  readonly names: () => Promise<typeof Names>;
  readonly places: () => Promise<typeof Places>;
  readonly sessions: () => Promise<typeof Sessions>;
  readonly uploads: () => Promise<typeof Uploads>;
  readonly versions: () => Promise<typeof Versions>;
}

/** @throws VaultError `shared_vault` for a client without `sharedVaults`. */
export function sharedCode({ sharedVaults }: Pick<Connection, "sharedVaults">): SharedCode {
  // `options.ts` cannot name the type: the modules that it loads import the options.
  if (sharedVaults !== null) return sharedVaults.code as unknown as SharedCode;
  throw new VaultError("shared_vault", "This client has no chain key and no network, which shared vaults need", {
    ...{ retryable: false, nextStep: HOW_TO_OPEN, step: null, cause: undefined },
  });
}
