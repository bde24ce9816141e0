import { api } from "@coffer/contract";
import type { AuditEvent } from "@coffer/sdk";
import { parseMoment, readAudit, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact, Outcome } from "../result.ts";
import { COUNT, FLAG, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { moment, token, word } from "../fact-values.ts";
import { cursorAfter, pageInput, readCursor } from "./page-input.ts";
import { LOOKS_BACK } from "./times.ts";

/** Pages of the log that one call looks at for rows of one actor. */
const MOST_PAGES = 10;

export const auditList = defineTool({
  name: "audit_list",
  profile: "owner",
  title: "Read the audit log",
  description:
    "Acts in the account with their actors, newest first. With verify: checks the whole log's chain of hashes instead, and names the first altered entry.",
  endpoints: [api.audit.list],
  input: {
    since: z.optional(z.string().check(z.maxLength(64))),
    by: z.optional(z.string().check(z.maxLength(66))),
    verify: z._default(z.boolean(), false),
    ...pageInput,
  },
  describe: {
    since: `${LOOKS_BACK}; default: all`,
    by: "key id (8 digits do) or chain address; default: anyone",
    verify: "check the chain",
  },
  output: { intact: FLAG, entries: COUNT, newest: TEXT, fault: TEXT, nextCursor: TEXT, complete: FLAG },
  table: "entries",
  run: async ({ since, by, verify, limit, cursor }, call) =>
    verify ? await verifyLog(call) : await listLog(call, since, by, limit, cursor),
});

async function verifyLog(call: Call): Promise<Outcome> {
  const { entries, newest, fault } = await (await call.client()).audit.verify({ signal: call.signal });
  return {
    summary: fault === null ? "The chain of the log is whole." : "The log was altered.",
    facts: {
      intact: fault === null,
      entries,
      newest: newest === null ? null : untrusted(JSON.stringify(newest)),
      fault: fault === null ? null : untrusted(`entry ${String(fault.sequence)}: ${fault.reason}`),
    },
  };
}

async function listLog(
  call: Call,
  since: string | undefined,
  by: string | undefined,
  limit: number,
  cursor: string | undefined,
): Promise<Outcome> {
  const from = since === undefined ? null : parseMoment("since", since, "UTC");
  const start = readCursor(cursor);
  const query = { since: from, by: by ?? null, limit, mostPages: MOST_PAGES };
  const { events, nextCursor } = await readAudit(call, { ...query, ...start });
  const isOver = nextCursor === null;
  return {
    summary: isOver ? `${String(events.length)} entries.` : `${String(events.length)} entries, and there may be more.`,
    facts: { complete: isOver, nextCursor: token(nextCursor) },
    table: {
      name: "entries",
      columns: ["sequence", "time", "action", "by", "targets"],
      rows: events.map(rowOf),
      // Rows of several pages, or filtered ones, have no place in one page: the first page is cut, and read again.
      ...(by === undefined && from === null ? { cursorAfter: cursorAfter(start) } : {}),
    },
  };
}

function rowOf({ sequence, occurredAt, action, actor, targets }: AuditEvent): Fact[] {
  const about = targets.map(({ type, id }) => `${type} ${id.slice(0, 8)}`).join(", ");
  const isPlain = /^[a-z_]{1,20}\.[a-z_]{1,30}$/.test(action);
  return [
    sequence,
    moment(occurredAt),
    isPlain ? action : untrusted(action),
    actor.id?.slice(0, 8) ?? word(actor.type),
    untrusted(about),
  ];
}
