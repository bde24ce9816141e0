/** Web sessions of the account. */
import { sessionsGroup, type api, type Session } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { ListQuery } from "../http/endpoint-types.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import type { Connection, CallOptions } from "../connection/options.ts";

/** Input of `sessions.list`. */
export interface SessionListQuery extends ListQuery<typeof api.sessions.list> {}

export interface SessionResource {
  /** Lists open sessions, newest first; `current` marks the one of this call. */
  list(query?: SessionListQuery, options?: CallOptions): PagePromise<"sessions", Session>;
  /** Ends the session at once; a second call changes nothing. */
  end(sessionId: string, options?: CallOptions): Promise<void>;
}

export function sessionResource(connection: Connection): SessionResource {
  const { list, end } = sessionsGroup;
  return {
    list: (query = {}, options) =>
      paged("sessions", query, (page) => callOn(connection, list, { query: page }, options)),
    end: (sessionId, options) => callOn(connection, end, { params: { sessionId } }, options),
  };
}
