/** Webhooks and the event feed (specification §4.1, §6). */
import { callingOn } from "../http/call.ts";
import type { FollowOptions } from "../events/follow.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import type { ReceivedEvent } from "./received-event.ts";
import { followEvents } from "../events/follow.ts";
import { webhookCalls } from "./webhook-calls.ts";
import type {
  WebhookCreateInput,
  WebhookDeliveriesQuery,
  WebhookListQuery,
  WebhookRecoverInput,
  WebhookUpdateInput,
} from "../connection/input-types.ts";
import type {
  CreatedWebhook,
  Delivery,
  DeliveryDetails,
  EventDescription,
  RotatedSecret,
  Webhook,
} from "../connection/result-types.ts";

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
  const calls = webhookCalls(callingOn(connection));
  return {
    ...calls,
    list: (query = {}, options) => paged("webhooks", query, (page) => calls.list(page, options)),
    deliveries: (webhookId, query = {}, options) =>
      paged("deliveries", query, (page) => calls.deliveries(webhookId, page, options)),
  };
}

export interface EventResource {
  /**
   * Follows events of the account as they happen: each once and in order, over as many connections as it takes. Keep
   * `event.data.sequence` and pass it as `after` to go on where a program stopped. Ends when `signal` aborts. Rejects
   * with an {@link SdkError} when the service cannot be reached at first, or refuses.
   *
   * @example
   * ```ts
   * for await (const event of client.events.follow({ after: 41, signal: AbortSignal.timeout(60_000) })) {
   *   console.log(event.data.sequence, event.type);
   * }
   * ```
   */
  follow(options?: FollowOptions): AsyncGenerator<ReceivedEvent, void, undefined>;
}

export function eventResource(connection: Connection): EventResource {
  return { follow: (options) => followEvents(connection, options) };
}
