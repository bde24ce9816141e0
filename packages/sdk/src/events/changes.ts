/** The change feed (specification §6). */
import { followChanges, listChanges, type ChangeFollowOptions, type ChangeListOptions } from "./follow-changes.ts";
import type { Connection } from "../connection/options.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import type { ChangeListQuery } from "../connection/input-types.ts";
import type { Change } from "../connection/result-types.ts";

export interface ChangeResource {
  /**
   * Lists changes of the account, oldest first: who did what to which object, as ids. Agents see what lies in their
   * vaults. Members of another account name the shared vault. `author` is what this client has verified; `actor` is
   * the service's word. `cursor_expired`: changes before the cursor are no longer kept, so list your files again.
   */
  list(query?: ChangeListQuery, options?: ChangeListOptions): PagePromise<"changes", Change>;
  /**
   * Follows changes as they happen: each once and in order. Pass the `sequence` that you handled last as `after` to go
   * on where a program stopped. Ends when `signal` aborts.
   *
   * @example
   * ```ts
   * for await (const { sequence, kind, name } of client.changes.follow({ signal: AbortSignal.timeout(60_000) })) {
   *   console.log(sequence, kind, name);
   * }
   * ```
   */
  follow(options?: ChangeFollowOptions): AsyncGenerator<Change, void, undefined>;
}

export function changeResource(connection: Connection): ChangeResource {
  return {
    list: (query = {}, options) => paged("changes", query, (page) => listChanges(connection, page, options)),
    follow: (options) => followChanges(connection, options),
  };
}
