import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import { toAuditEvent } from "../changes/events.ts";
import { parsePage, toPage } from "../paging.ts";
import { listEntries, listEntriesOf } from "./store.ts";

export const auditHandlers = (deps: Pick<Deps, "database">): GroupHandlers<typeof api.audit> => ({
  async list({ query }, { principal: { accountId } }) {
    const page = parsePage("audit", query);
    // The order of the log is its sequence, not its times, which a clock that is set can turn round.
    const range = { before: page.after?.createdAt ?? Number.MAX_SAFE_INTEGER, limit: page.limit + 1 };
    const found =
      query.action === undefined
        ? await listEntries(deps.database, accountId, range)
        : await listEntriesOf(deps.database, accountId, query.action, range);
    const positioned = found.map((row) => ({ ...row, created_at: row.sequence }));
    const { rows, nextCursor } = toPage(positioned, page);
    return { events: rows.map(toAuditEvent), nextCursor };
  },
});
