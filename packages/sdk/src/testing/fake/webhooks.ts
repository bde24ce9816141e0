/** Webhook endpoints of the fake. */
import { MAX_WEBHOOK_URL, SECRET_OVERLAP_HOURS, type api, type Webhook } from "@coffer/contract";
import { toBase64 } from "../../digest.ts";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { record } from "./audit.ts";
import { deliveryHandlers, readWebhook } from "./deliveries.ts";
import { pageOf, timestamp, type Caller, type State } from "./state.ts";
import type { WebhookRow } from "./webhook-state.ts";

const MAX_WEBHOOKS = 20;
const HOUR_MS = 3_600_000;

export function webhookHandlers(state: State): GroupHandlers<typeof api.webhooks, Caller> {
  return { ...endpointHandlers(state), ...deliveryHandlers(state) };
}

type Names = "list" | "create" | "get" | "update" | "delete" | "rotateSecret";

function endpointHandlers(state: State): Pick<GroupHandlers<typeof api.webhooks, Caller>, Names> {
  const note = (caller: Caller, action: string, id: string): void => {
    record(state, caller, caller.accountId, `webhook.${action}`, { type: "webhook", id });
  };
  return {
    list: ({ query }, { accountId }) => {
      const { items, nextCursor } = pageOf(ofAccount(state, accountId), query);
      return { webhooks: items, nextCursor };
    },
    create: ({ body }, caller) => {
      const { accountId } = caller;
      if (ofAccount(state, accountId).length >= MAX_WEBHOOKS) throw new Failure("limit_reached");
      const value = newWebhook(state, { ...body, url: acceptUrl(body.url) });
      const secret = mintSecret();
      const secrets = [{ text: secret, endsAt: null }];
      state.webhooks.set(value.id, { accountId, sequence: state.next(), value, secrets });
      note(caller, "created", value.id);
      return { webhook: value, secret };
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
      note(caller, "updated", row.value.id);
      return { webhook: row.value };
    },
    delete: ({ params }, caller) => {
      const { id } = readWebhook(state, caller, params.webhookId).value;
      state.webhooks.delete(id);
      for (const row of state.deliveries.values()) if (row.webhookId === id) state.deliveries.delete(row.value.id);
      note(caller, "deleted", id);
    },
    rotateSecret: ({ params }, caller) => {
      const row = readWebhook(state, caller, params.webhookId);
      const secret = mintSecret();
      const endsAt = state.now() + SECRET_OVERLAP_HOURS * HOUR_MS;
      const previous = row.secrets.slice(0, 1).map(({ text }) => ({ text, endsAt }));
      row.secrets = [{ text: secret, endsAt: null }, ...previous];
      row.value = { ...row.value, updatedAt: timestamp(state) };
      note(caller, "secret_rotated", row.value.id);
      return { secret, previousSecretExpiresAt: new Date(endsAt).toISOString() };
    },
  };
}

function ofAccount(state: State, accountId: string): WebhookRow[] {
  return [...state.webhooks.values()].filter((row) => row.accountId === accountId);
}

function newWebhook(
  state: State,
  wanted: Pick<Webhook, "url" | "events"> & { readonly description?: string | undefined },
): Webhook {
  const createdAt = timestamp(state);
  return {
    id: crypto.randomUUID(),
    url: wanted.url,
    events: [...new Set(wanted.events)],
    active: true,
    description: wanted.description ?? "",
    ...{ lastDeliveryStatus: "none", lastDeliveryAt: null, failureCount: 0, createdAt, updatedAt: createdAt },
  };
}

function mintSecret(): string {
  return `whsec_${toBase64(crypto.getRandomValues(new Uint8Array(32)))}`;
}

/** The rules of a service in development: https, http to this machine, no credentials, no address of a private network. */
function acceptUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || url.port === "0" || /[\s\\]/.test(text))
    throw new Failure("url_refused", "body.url: invalid url");
  const own = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])\.?$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && own))
    throw new Failure("url_refused", "body.url: invalid url");
  if (!own && PRIVATE.test(url.hostname)) throw new Failure("url_refused", "body.url: blocked address");
  if (url.href.length > MAX_WEBHOOK_URL) throw new Failure("url_refused", "body.url: too long");
  return url.href;
}

/** Enough of the blocks that the service refuses (RFC 6890) for a fake that calls nobody. The URL parser has made them plain. */
const PRIVATE =
  /^(0|10|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|22[4-9]|23\d|24\d|25[0-5])\.|^\[(::|f[cde])/;
