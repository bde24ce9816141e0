/** The calls behind {@link AuditResource}. */
import { accountGroup, auditGroup, type AuditEvent } from "@coffer/contract";
import { verifyAudit, type AuditVerifyOptions } from "./audit-chain.ts";
import type { Calling } from "../http/call.ts";
import type { Query } from "../connection/call-fields.ts";
import type { CallOptions } from "../connection/options.ts";
import type { PagePromise } from "../http/pages.ts";

export function auditCalls(call: Calling) {
  const { list } = auditGroup;
  return {
    list: (query: Query<typeof list>, options?: CallOptions) => call(list, { query }, options),
    /** `listed`: the log as the client lists it. */
    verify: async (
      listed: (query: Query<typeof list>, options?: CallOptions) => PagePromise<"events", AuditEvent>,
      { expect, accountId, ...options }: AuditVerifyOptions = {},
    ) => {
      const id = accountId ?? (await call(accountGroup.get, {}, options)).account.id;
      const page = { limit: 1000 };
      const newestFirst = () => listed(page, options).pages();
      return verifyAudit(id, { newestFirst, at: (cursor) => listed({ ...page, cursor }, options) }, expect);
    },
  };
}
