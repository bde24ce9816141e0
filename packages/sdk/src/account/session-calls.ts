/** The calls behind {@link SessionResource}. */
import { sessionsGroup } from "@coffer/contract";
import type { Calling } from "../http/call.ts";
import type { Query } from "../connection/call-fields.ts";
import type { CallOptions } from "../connection/options.ts";

export function sessionCalls(call: Calling) {
  const { list, end } = sessionsGroup;
  return {
    list: (query: Query<typeof list>, options?: CallOptions) => call(list, { query }, options),
    end: (sessionId: string, options?: CallOptions) => call(end, { params: { sessionId } }, options),
  };
}
