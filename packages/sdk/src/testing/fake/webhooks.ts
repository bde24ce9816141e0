/** Webhook endpoints of the fake. */
import type { api } from "@coffer/contract";
import { toBase64 } from "../../transfer/digest.ts";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { notFound, pageOf, timestamp, type Caller, type State, type WebhookRow } from "./state.ts";

const MAX_WEBHOOKS = 20;

type WebhookHandlers = Pick<
  GroupHandlers<typeof api.webhooks, Caller>,
  "list" | "create" | "get" | "update" | "delete"
>;

export function webhookHandlers(state: State): WebhookHandlers {
  return {
    list: ({ query }, { accountId }) => {
      const { items, nextCursor } = pageOf(ofAccount(state, accountId), query);
      return { webhooks: items, nextCursor };
    },
    create: ({ body: { url, events, description = "" } }, { accountId }) => {
      if (ofAccount(state, accountId).length >= MAX_WEBHOOKS) throw new Failure("limit_reached");
      const createdAt = timestamp(state);
      const secret = `whsec_${toBase64(crypto.getRandomValues(new Uint8Array(32)))}`;
      const row: WebhookRow = {
        accountId,
        sequence: state.next(),
        secret,
        value: {
          id: crypto.randomUUID(),
          url: acceptUrl(url),
          events: [...new Set(events)],
          active: true,
          description,
          lastDeliveryStatus: "none",
          lastDeliveryAt: null,
          failureCount: 0,
          createdAt,
          updatedAt: createdAt,
        },
      };
      state.webhooks.set(row.value.id, row);
      return { webhook: row.value, secret };
    },
    get: ({ params }, caller) => ({ webhook: readWebhook(state, caller, params.webhookId).value }),
    update: ({ params, body }, caller) => {
      const row = readWebhook(state, caller, params.webhookId);
      row.value = {
        ...row.value,
        url: body.url === undefined ? row.value.url : acceptUrl(body.url),
        events: [...new Set(body.events ?? row.value.events)],
        description: body.description ?? row.value.description,
        active: body.active ?? row.value.active,
        updatedAt: timestamp(state),
      };
      return { webhook: row.value };
    },
    delete: ({ params }, caller) => {
      const { id } = readWebhook(state, caller, params.webhookId).value;
      state.webhooks.delete(id);
      state.deliveries = state.deliveries.filter(({ webhookId }) => webhookId !== id);
    },
  };
}

function ofAccount(state: State, accountId: string): WebhookRow[] {
  return [...state.webhooks.values()].filter((row) => row.accountId === accountId);
}

function readWebhook(state: State, { accountId }: Caller, webhookId: string): WebhookRow {
  const row = state.webhooks.get(webhookId);
  if (row?.accountId !== accountId) throw notFound("Webhook");
  return row;
}

/** https, or http to this machine, as a service in development allows. The fake calls nobody, so it knows no blocked addresses. */
function acceptUrl(text: string): string {
  const url = URL.parse(text);
  const isOwn = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? "");
  if (url === null || url.username !== "" || (url.protocol !== "https:" && !(url.protocol === "http:" && isOwn)))
    throw new Failure("url_refused", "body.url: invalid url");
  return url.href;
}
