/**
 * The core reaches the code of calls over many objects through this place alone. So a page that is bundled without
 * splitting carries it only if it imports `@coffer/sdk/bulk`. In Node that happens by itself.
 */
import type * as Changes from "./events/follow-changes.ts";
import { configurationError } from "./errors.ts";
import type * as Acts from "./resources/many-calls.ts";
import type * as Search from "./resources/search-calls.ts";
import type * as Names from "./search/search-names.ts";
import type * as Rewind from "./rewind/rewind.ts";
import type * as Uploads from "./upload/upload-many.ts";

/** Each part is loaded when it is first used. */
export interface BulkCode {
  readonly acts: () => Promise<typeof Acts>;
  readonly changes: () => Promise<typeof Changes>;
  readonly names: () => Promise<typeof Names>;
  readonly rewind: () => Promise<typeof Rewind>;
  readonly search: () => Promise<typeof Search>;
  readonly uploads: () => Promise<typeof Uploads>;
}

/** One for all clients: it is code, and has no state. */
let offered: BulkCode | null = null;

export function offerBulk(code: BulkCode): void {
  offered = code;
}

/** @throws SdkError `configuration` in a page that has not imported it. */
export function bulkCode(): BulkCode {
  if (offered === null) throw configurationError('This call needs: import "@coffer/sdk/bulk"');
  return offered;
}
