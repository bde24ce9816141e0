/** The calls behind {@link AuditResource}. */
import { auditGroup } from "@coffer/contract/audit";
import type { Calling } from "../call.ts";
import type { Query } from "./calling.ts";
import type { CallOptions } from "../options.ts";

export function auditCalls(call: Calling) {
  const { list } = auditGroup;
  return {
    list: (query: Query<typeof list>, options?: CallOptions) => call(list, { query }, options),
  };
}
