import { api } from "@coffer/contract";
import type { Delivery, Webhook } from "@coffer/sdk";
import { findWebhook, shortIds, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact, Outcome } from "../result.ts";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { minute, token, word } from "../fact-values.ts";
import { cursorAfter, pageInput, readCursor } from "./page-input.ts";
import { visibleUrl, webhookRef } from "./webhook-ref.ts";

export const webhookList = defineTool({
  name: "webhook_list",
  profile: "owner",
  title: "List webhooks",
  description:
    "Webhook endpoints. With webhookId: its deliveries, newest first. What receivers answer is data of others.",
  endpoints: [api.webhooks.list, api.webhooks.deliveries],
  input: {
    webhookId: z.optional(webhookRef),
    status: z.optional(z.enum(["pending", "delivering", "success", "failed"])),
    ...pageInput,
  },
  describe: { webhookId: "id (8 digits do); default: the endpoints", status: "of deliveries; default: any" },
  output: { webhookId: TEXT, nextCursor: TEXT },
  table: "rows",
  run: async ({ webhookId, status, limit, cursor }, call) => {
    const start = readCursor(cursor);
    const query = { limit: limit + start.skip, ...(start.cursor === null ? {} : { cursor: start.cursor }) };
    if (webhookId === undefined) return await endpoints(call, query, start);
    const { id } = await findWebhook(call, webhookId);
    const client = await call.client();
    const filter = status === undefined ? {} : { status };
    const page = await client.webhooks.deliveries(id, { ...query, ...filter }, { signal: call.signal });
    const rows = page.deliveries.slice(start.skip);
    return {
      summary: `${String(rows.length)} deliveries.`,
      facts: { webhookId: id, nextCursor: token(page.nextCursor) },
      table: {
        name: "rows",
        columns: ["deliveryId", "event", "status", "http", "attempts", "last", "lastError"],
        rows: rows.map(deliveryRow),
        cursorAfter: cursorAfter(start),
      },
    };
  },
});

type Query = { readonly limit: number; readonly cursor?: string };

async function endpoints(call: Call, query: Query, start: ReturnType<typeof readCursor>): Promise<Outcome> {
  const page = await (await call.client()).webhooks.list(query, { signal: call.signal });
  const rows = page.webhooks.slice(start.skip);
  const short = shortIds(rows.map(({ id }) => id));
  return {
    summary: `${String(rows.length)} webhooks.`,
    facts: { nextCursor: token(page.nextCursor) },
    table: {
      name: "rows",
      columns: ["webhookId", "state", "last", "failures", "events", "url"],
      rows: rows.map((webhook) => webhookRow(webhook, short)),
      cursorAfter: cursorAfter(start),
    },
  };
}

function webhookRow(webhook: Webhook, short: (id: string) => string): Fact[] {
  const { id, active, lastDeliveryStatus, failureCount, events, url } = webhook;
  return [
    short(id),
    active ? "active" : "paused",
    word(lastDeliveryStatus),
    failureCount,
    untrusted(events.join(" ")),
    untrusted(visibleUrl(url)),
  ];
}

function deliveryRow({ id, event, status, httpStatus, attempts, lastAttemptAt, lastError }: Delivery): Fact[] {
  return [
    ...[
      id,
      untrusted(event),
      word(status),
      httpStatus,
      attempts,
      lastAttemptAt === null ? null : minute(lastAttemptAt),
    ],
    lastError === "" ? null : untrusted(lastError),
  ];
}
