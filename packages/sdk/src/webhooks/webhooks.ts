/** Webhooks: the endpoints that get events, and their deliveries (specification §6). */
import { webhookEventsGroup, webhooksGroup } from "@coffer/contract";
import type { api, Delivery, EventDescription, Webhook } from "@coffer/contract";
import type { Connection, CallOptions } from "../connection/options.ts";
import { callOn } from "../http/call.ts";
import type { Body, ListQuery, Result } from "../http/endpoint-types.ts";
import { paged, type PagePromise } from "../http/pages.ts";

/** Input of `webhooks.list`. */
export interface WebhookListQuery extends ListQuery<typeof api.webhooks.list> {}

/** Input of `webhooks.create`. */
export interface WebhookCreateInput extends Body<typeof api.webhooks.create> {}

/** Input of `webhooks.update`. */
export interface WebhookUpdateInput extends Body<typeof api.webhooks.update> {}

/** Input of `webhooks.deliveries`. */
export interface WebhookDeliveriesQuery extends ListQuery<typeof api.webhooks.deliveries> {}

/** Input of `webhooks.recover`. */
export interface WebhookRecoverInput extends Body<typeof api.webhooks.recover> {}

/** A new webhook endpoint. Only this result holds its secret. */
export interface CreatedWebhook extends Result<typeof api.webhooks.create> {}

/** The new secret of a webhook endpoint. */
export interface RotatedSecret extends Result<typeof api.webhooks.rotateSecret> {}

/** A delivery with all of its attempts. */
export interface DeliveryDetails extends Result<typeof api.webhooks.delivery> {}

export interface WebhookResource {
  /** Lists webhook endpoints, newest first. */
  list(query?: WebhookListQuery, options?: CallOptions): PagePromise<"webhooks", Webhook>;
  /**
   * Makes a webhook. Only this answer holds its secret.
   *
   * @example
   * ```ts
   * const { webhook, secret } = await client.webhooks.create({ url: "https://example.com/hook", events: ["file.uploaded"] });
   * const { status, lastError } = await client.webhooks.test(webhook.id);
   * ```
   */
  create(input: WebhookCreateInput, options?: CallOptions): Promise<CreatedWebhook>;
  /** Reads one webhook endpoint. */
  get(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /** Changes an endpoint. `active: false` keeps events for later; `active: true` sends them. */
  update(webhookId: string, changes: WebhookUpdateInput, options?: CallOptions): Promise<Webhook>;
  /** Deletes the webhook with its deliveries. */
  delete(webhookId: string, options?: CallOptions): Promise<void>;
  /** Sends a `webhook.test` now and waits for its result, at most 15 s. A receiver that fails is a record, not an error. */
  test(webhookId: string, options?: CallOptions): Promise<Delivery>;
  /**
   * Replaces the secret. The old one signs beside the new one until `previousSecretExpiresAt`, so you have 24 hours to
   * give receivers both.
   */
  rotateSecret(webhookId: string, options?: CallOptions): Promise<RotatedSecret>;
  /** Lists deliveries, newest first. `lastError` is data from outside. */
  deliveries(
    webhookId: string,
    query?: WebhookDeliveriesQuery,
    options?: CallOptions,
  ): PagePromise<"deliveries", Delivery>;
  /** Reads a delivery with the receiver's answer to each attempt: data from outside, do not trust it. */
  delivery(webhookId: string, deliveryId: string, options?: CallOptions): Promise<DeliveryDetails>;
  /** Sends the same message once more, in a delivery of its own. */
  redeliver(webhookId: string, deliveryId: string, options?: CallOptions): Promise<Delivery>;
  /** Sends failed deliveries of a time again; resolves with how many. A repeat adds nothing. */
  recover(webhookId: string, range: WebhookRecoverInput, options?: CallOptions): Promise<number>;
  /** Lists the kinds that you can subscribe to, with the JSON Schema of each payload and an example. */
  eventKinds(options?: CallOptions): Promise<EventDescription[]>;
}

export function webhookResource(connection: Connection): WebhookResource {
  const { list, create, get, update, rotateSecret, test, deliveries, delivery, redeliver, recover } = webhooksGroup;
  return {
    list: (query = {}, options) =>
      paged("webhooks", query, (page) => callOn(connection, list, { query: page }, options)),
    create: (body, options) => callOn(connection, create, { body }, options),
    get: async (webhookId, options) => (await callOn(connection, get, { params: { webhookId } }, options)).webhook,
    update: async (webhookId, body, options) =>
      (await callOn(connection, update, { params: { webhookId }, body }, options)).webhook,
    delete: (webhookId, options) => callOn(connection, webhooksGroup.delete, { params: { webhookId } }, options),
    rotateSecret: (webhookId, options) => callOn(connection, rotateSecret, { params: { webhookId } }, options),
    eventKinds: async (options) => (await callOn(connection, webhookEventsGroup.list, {}, options)).events,
    test: async (webhookId, options) => (await callOn(connection, test, { params: { webhookId } }, options)).delivery,
    deliveries: (webhookId, query = {}, options) =>
      paged("deliveries", query, (page) =>
        callOn(connection, deliveries, { params: { webhookId }, query: page }, options),
      ),
    delivery: (webhookId, deliveryId, options) =>
      callOn(connection, delivery, { params: { webhookId, deliveryId } }, options),
    redeliver: async (webhookId, deliveryId, options) =>
      (await callOn(connection, redeliver, { params: { webhookId, deliveryId } }, options)).delivery,
    recover: async (webhookId, body, options) =>
      (await callOn(connection, recover, { params: { webhookId }, body }, options)).count,
  };
}
