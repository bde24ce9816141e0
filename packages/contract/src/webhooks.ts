/** Webhook endpoints and their deliveries, and the live event feed (specification §2.1, §2.2, §4.1, §6; decisions §6). */
import * as z from "zod/mini";
import { following } from "./changes.ts";
import { bytes, endpoint } from "./endpoint.ts";
import { EVENT_KINDS, EVERY_EVENT } from "./event-kinds.ts";
import { integerText, openEnum, pageOf, pageQuery, timestamp, uuid } from "./values.ts";

/** Attempts of an event's delivery (decisions §6); a test has one. */
export const MAX_ATTEMPTS = { event: 10, test: 1 } as const;

/** Characters of an endpoint's address. */
export const MAX_WEBHOOK_URL = 2048;

/** Hours in which a rotated secret still signs beside the new one. */
export const SECRET_OVERLAP_HOURS = 24;

/** Days deliveries and their attempts are kept. */
export const DELIVERY_DAYS = 30;

/** Specification §2.1. */
export const webhook = z.object({
  id: uuid,
  url: z.string(),
  events: z.array(openEnum([...EVENT_KINDS, EVERY_EVENT])),
  active: z.boolean(),
  description: z.string(),
  lastDeliveryStatus: openEnum(["none", "pending", "success", "failed"]),
  lastDeliveryAt: z.nullable(timestamp),
  /** Failed deliveries in a row; 0 after a success. */
  failureCount: z.int(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

/** Specification §2.2. */
export const delivery = z.object({
  id: uuid,
  event: z.string(),
  /** The `webhook-id` of every attempt. */
  messageId: z.string(),
  /** The number of the change, 0 for a test. */
  sequence: z.int(),
  status: openEnum(["pending", "delivering", "success", "failed"]),
  /** HTTP status of the newest attempt; 0 if there was no HTTP answer. */
  httpStatus: z.int(),
  attempts: z.int(),
  maxAttempts: z.int(),
  /** Why the newest attempt failed: `timeout`, `dns`, `tls`, `blocked address`, `HTTP 500` …; empty if it succeeded. */
  lastError: z.string(),
  lastAttemptAt: z.nullable(timestamp),
  nextAttemptAt: z.nullable(timestamp),
  completedAt: z.nullable(timestamp),
  createdAt: timestamp,
});

/** One try to deliver. */
export const attempt = z.object({
  number: z.int(),
  /** `scheduled`, or `manual` after a request for redelivery. */
  trigger: openEnum(["scheduled", "manual", "test"]),
  httpStatus: z.int(),
  error: z.string(),
  /** Milliseconds. */
  duration: z.int(),
  /** The receiver's answer, at most 16 KiB: data from outside, do not trust it. */
  responseBody: z.string(),
  at: timestamp,
});

export interface Webhook extends z.infer<typeof webhook> {}
export interface Delivery extends z.infer<typeof delivery> {}
export interface DeliveryAttempt extends z.infer<typeof attempt> {}

const url = z.string().check(z.minLength(1), z.maxLength(MAX_WEBHOOK_URL));
const events = z
  .array(z.enum([...EVENT_KINDS, EVERY_EVENT]))
  .check(z.minLength(1), z.maxLength(EVENT_KINDS.length + 1));
const description = z.string().check(z.trim(), z.maxLength(500));

const owned = { auth: "credential", access: "owner", vaultLimit: "refuse" } as const;
const reading = { ...owned, scope: "webhooks:read", effect: "read", method: "GET", status: 200 } as const;
const writing = { ...owned, scope: "webhooks:write" } as const;
const params = z.object({ webhookId: uuid });
const deliveryParams = z.object({ webhookId: uuid, deliveryId: uuid });

export const webhooksGroup = {
  list: endpoint({
    ...reading,
    id: "webhooks.list",
    path: "/api/webhooks",
    query: z.strictObject(pageQuery),
    output: pageOf("webhooks", webhook),
    errors: [],
  }),
  create: endpoint({
    ...writing,
    id: "webhooks.create",
    method: "POST",
    path: "/api/webhooks",
    effect: "create",
    body: z.strictObject({ url, events, description: z.optional(description) }),
    status: 201,
    output: z.object({ webhook, secret: z.string() }),
    errors: ["limit_reached", "url_refused"],
    secretResponse: true,
  }),
  get: endpoint({
    ...reading,
    id: "webhooks.get",
    path: "/api/webhooks/{webhookId}",
    params,
    output: z.object({ webhook }),
    errors: ["not_found"],
  }),
  update: endpoint({
    ...writing,
    id: "webhooks.update",
    method: "PATCH",
    path: "/api/webhooks/{webhookId}",
    effect: "update",
    params,
    body: z.strictObject({
      url: z.optional(url),
      events: z.optional(events),
      description: z.optional(description),
      active: z.optional(z.boolean()),
    }),
    status: 200,
    output: z.object({ webhook }),
    errors: ["not_found", "url_refused"],
  }),
  delete: endpoint({
    ...writing,
    id: "webhooks.delete",
    method: "DELETE",
    path: "/api/webhooks/{webhookId}",
    effect: "delete",
    params,
    status: 204,
    errors: ["not_found"],
  }),
  test: endpoint({
    ...writing,
    id: "webhooks.test",
    method: "POST",
    path: "/api/webhooks/{webhookId}/test",
    // Sends a request to somebody else: a repeat sends another.
    effect: "append",
    params,
    status: 200,
    output: z.object({ delivery }),
    errors: ["not_found"],
  }),
  rotateSecret: endpoint({
    ...writing,
    id: "webhooks.rotateSecret",
    method: "POST",
    path: "/api/webhooks/{webhookId}/rotate-secret",
    effect: "append",
    params,
    status: 200,
    output: z.object({ secret: z.string(), previousSecretExpiresAt: timestamp }),
    errors: ["not_found"],
    secretResponse: true,
  }),
  deliveries: endpoint({
    ...reading,
    id: "webhooks.deliveries",
    path: "/api/webhooks/{webhookId}/deliveries",
    params,
    query: z.strictObject({ ...pageQuery, status: z.optional(z.enum(["pending", "delivering", "success", "failed"])) }),
    output: pageOf("deliveries", delivery),
    errors: ["not_found"],
  }),
  delivery: endpoint({
    ...reading,
    id: "webhooks.delivery",
    path: "/api/webhooks/{webhookId}/deliveries/{deliveryId}",
    params: deliveryParams,
    output: z.object({ delivery, attempts: z.array(attempt) }),
    errors: ["not_found"],
  }),
  redeliver: endpoint({
    ...writing,
    id: "webhooks.redeliver",
    method: "POST",
    path: "/api/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver",
    effect: "append",
    params: deliveryParams,
    status: 202,
    output: z.object({ delivery }),
    errors: ["not_found", "webhook_inactive"],
  }),
  recover: endpoint({
    ...writing,
    id: "webhooks.recover",
    method: "POST",
    path: "/api/webhooks/{webhookId}/recover",
    effect: "append",
    params,
    body: z.strictObject({ since: timestamp, until: z.optional(timestamp) }),
    status: 202,
    /** How many failed deliveries it sends again. */
    output: z.object({ count: z.int() }),
    errors: ["not_found", "webhook_inactive"],
  }),
} as const;

export const webhookEventsGroup = {
  list: endpoint({
    ...reading,
    id: "webhookEvents.list",
    path: "/api/webhook-events",
    output: z.object({
      events: z.array(
        z.object({
          kind: z.string(),
          description: z.string(),
          /** JSON Schema 2020-12 of the payload. */
          schema: z.looseObject({}),
          example: z.looseObject({}),
        }),
      ),
    }),
    errors: [],
  }),
} as const;

export const eventsGroup = {
  stream: endpoint({
    ...following,
    id: "events.stream",
    method: "GET",
    path: "/api/events",
    effect: "read",
    query: z.strictObject({
      /** Begins after this sequence number; absent: with events from now on. */
      after: z.optional(integerText(0, Number.MAX_SAFE_INTEGER)),
    }),
    /** The sequence number that an EventSource saw last, sent when it reconnects. Wins over `after`. */
    headers: z.object({ "last-event-id": z.optional(integerText(0, Number.MAX_SAFE_INTEGER)) }),
    status: 200,
    output: bytes("text/event-stream"),
    errors: [],
  }),
} as const;
