/** The account's audit log. */
import { accountGroup, auditGroup, type api, type AuditEvent } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { ListQuery } from "../http/endpoint-types.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { verifyAudit, type AuditVerdict, type AuditVerifyOptions } from "./audit-chain.ts";

/** Input of `audit.list`. */
export interface AuditListQuery extends ListQuery<typeof api.audit.list> {}

export interface AuditResource {
  /** Lists entries, newest first. `action`: entries of that action, or of those that begin with it and a dot. */
  list(query?: AuditListQuery, options?: CallOptions): PagePromise<"events", AuditEvent>;
  /**
   * Reads the whole log and checks its chain of hashes, with a few pages of it in memory. `fault` names the first
   * altered entry; null: there is none. Keep `newest` where the service cannot write and pass it as `expect` next
   * time: only that shows a log that was rewritten whole.
   *
   * @example
   * ```ts
   * const { entries, newest, fault } = await client.audit.verify();
   * if (fault !== null) console.error(`entry ${fault.sequence}: ${fault.reason}`);
   * ```
   */
  verify(options?: AuditVerifyOptions): Promise<AuditVerdict>;
}

const PAGE_LIMIT = 1000;

export function auditResource(connection: Connection): AuditResource {
  const list: AuditResource["list"] = (query = {}, options) =>
    paged("events", query, (page) => callOn(connection, auditGroup.list, { query: page }, options));
  return {
    list,
    verify: async ({ expect, accountId, ...options } = {}) => {
      const id = accountId ?? (await callOn(connection, accountGroup.get, {}, options)).account.id;
      const query = { limit: PAGE_LIMIT };
      const newestFirst = () => list(query, options).pages();
      return verifyAudit(id, { newestFirst, at: (cursor) => list({ ...query, cursor }, options) }, expect);
    },
  };
}
