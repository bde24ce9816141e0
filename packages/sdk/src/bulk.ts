/**
 * `@coffer/sdk/bulk`: the code of calls over many objects: `files.uploadMany`, `trashMany`, `restoreMany`, `moveMany` and `search`,
 * `client.search`, `changes`, and `agents.rewind`. A page imports it for its effect, before it calls one of them. In Node `@coffer/sdk` does.
 *
 * @example
 * ```ts
 * import "@coffer/sdk/bulk";
 * ```
 * @packageDocumentation
 */
import { offerBulk } from "./bulk-code.ts";
import { once } from "./once.ts";

offerBulk({
  acts: once(() => import("./resources/many-calls.ts")),
  changes: once(() => import("./events/follow-changes.ts")),
  names: once(() => import("./search/search-names.ts")),
  rewind: once(() => import("./rewind/rewind.ts")),
  search: once(() => import("./resources/search-calls.ts")),
  uploads: once(() => import("./upload/upload-many.ts")),
});
