/** Webhook endpoints and their deliveries, and the live event feed (specification §2.1, §2.2, §4.1, §6; decisions §6). */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { following } from "./changes.ts";
import { bytes, endpoint } from "./endpoint.ts";
import { EVENT_KINDS, EVERY_EVENT } from "./event-kinds.ts";
import { integerText, openEnum, nextPage, pageQuery, timestamp, uuid } from "./values.ts";

/** Attempts of an event's delivery (decisions §6); a test has one. */
export const MAX_ATTEMPTS = { event: 10, test: 1 } as const;

/** Characters of an endpoint's address. */
export const MAX_WEBHOOK_URL = 2048;

/** Hours in which a rotated secret still signs beside the new one. */
export const SECRET_OVERLAP_HOURS = 24;

/** Days deliveries and their attempts are kept. */
export const DELIVERY_DAYS = 30;

/** Specification §2.1. */
const webhookSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** Where deliveries are sent. */
  url: z.string(),
  /** Kinds of events that are sent. `*`: every kind. */
  events: z.array(openEnum([...EVENT_KINDS, EVERY_EVENT])),
  /** Whether events are delivered. false: the endpoint is paused. */
  active: z.boolean(),
  /** Note for people to read. "": none. */
  description: z.string(),
  /** How the newest delivery went: `none`, `pending`, `success` or `failed`. */
  lastDeliveryStatus: openEnum(["none", "pending", "success", "failed"]),
  /** When the newest delivery happened: RFC 3339 in UTC. null: none yet. */
  lastDeliveryAt: z.nullable(timestamp),
  /** Failed deliveries in a row. A success sets it to 0. */
  failureCount: z.int(),
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
  /** When it last changed: RFC 3339 in UTC, with milliseconds. */
  updatedAt: timestamp,
});

/** A webhook endpoint. */
export interface Webhook extends Parsed<typeof webhookSchema> {}

export const webhook: Named<Webhook> = webhookSchema;

/** Specification §2.2. */
const deliverySchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** Kind of the event, such as `file.uploaded`. */
  event: z.string(),
  /** The `webhook-id` header of every attempt. Use it to drop repeats. */
  messageId: z.string(),
  /** Number of the change in the account. Later changes have higher numbers. 0: a test. */
  sequence: z.int(),
  /** `pending`, `delivering`, `success` or `failed`. */
  status: openEnum(["pending", "delivering", "success", "failed"]),
  /** HTTP status of the newest attempt. 0: no answer. */
  httpStatus: z.int(),
  /** Number of attempts so far. */
  attempts: z.int(),
  /** Most attempts: 10 for an event, 1 for a test. */
  maxAttempts: z.int(),
  /** Why the newest attempt failed, such as `timeout` or `HTTP 500`. "": it did not fail. */
  lastError: z.string(),
  /** When the newest attempt began: RFC 3339 in UTC. null: none yet. */
  lastAttemptAt: z.nullable(timestamp),
  /** When the next attempt is due: RFC 3339 in UTC. null: there will be none. */
  nextAttemptAt: z.nullable(timestamp),
  /** When the delivery succeeded or failed for good: RFC 3339 in UTC. null: not yet. */
  completedAt: z.nullable(timestamp),
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
});

/** A message to a webhook endpoint, and how it went. */
export interface Delivery extends Parsed<typeof deliverySchema> {}

export const delivery: Named<Delivery> = deliverySchema;

/** One try to deliver. */
const attemptSchema = object({
  /** Number of the attempt, from 1. */
  number: z.int(),
  /** `scheduled`, `manual` after you asked for it again, or `test`. */
  trigger: openEnum(["scheduled", "manual", "test"]),
  /** HTTP status of the answer. 0: no answer. */
  httpStatus: z.int(),
  /** Why the attempt failed. "": it did not. */
  error: z.string(),
  /** How long the attempt took, in milliseconds. */
  duration: z.int(),
  /** What the receiver answered, at most 16 KiB. Do not trust it. */
  responseBody: z.string(),
  /** When the attempt began: RFC 3339 in UTC. */
  at: timestamp,
});

/** One try to deliver a message. */
export interface DeliveryAttempt extends Parsed<typeof attemptSchema> {}

export const attempt: Named<DeliveryAttempt> = attemptSchema;

const url = z.string().check(z.minLength(1), z.maxLength(MAX_WEBHOOK_URL));
const events = z
  .array(z.enum([...EVENT_KINDS, EVERY_EVENT]))
  .check(z.minLength(1), z.maxLength(EVENT_KINDS.length + 1));
const description = z.string().check(z.trim(), z.maxLength(500));

const ownerEndpoint = { auth: "credential", access: "owner", vaultLimit: "refuse" } as const;
const reading = { ...ownerEndpoint, scope: "webhooks:read", effect: "read", method: "GET", status: 200 } as const;
const writing = { ...ownerEndpoint, scope: "webhooks:write" } as const;
const params = object({
  /** UUID of the webhook endpoint. */
  webhookId: uuid,
});
const deliveryParams = object({
  /** UUID of the webhook endpoint. */
  webhookId: uuid,
  /** UUID of the delivery. */
  deliveryId: uuid,
});

export const webhooksGroup = {
  /** List webhook endpoints, newest first. */
  list: endpoint({
    ...reading,
    id: "webhooks.list",
    path: "/api/webhooks",
    query: strictObject(pageQuery),
    output: object({
      /** Webhook endpoints, newest first. */
      webhooks: z.array(webhook),
      ...nextPage,
    }),
    errors: [],
  }),
  /** Register a webhook endpoint; its signing secret is in this answer and nowhere else. */
  create: endpoint({
    ...writing,
    id: "webhooks.create",
    method: "POST",
    path: "/api/webhooks",
    effect: "create",
    body: strictObject({
      /** Address that receives deliveries: an absolute URL of at most 2,048 characters. */
      url,
      /** Kinds of events to send. `*`: every kind. */
      events,
      /** Note for people to read, at most 500 characters. Default: empty. */
      description: z.optional(description),
    }),
    status: 201,
    output: object({
      /** The endpoint as it is now. */
      webhook,
      /** Key that signs the deliveries. It is a secret and is shown once. */
      secret: z.string(),
    }),
    errors: ["limit_reached", "url_refused"],
    secretResponse: true,
  }),
  /** One webhook endpoint. */
  get: endpoint({
    ...reading,
    id: "webhooks.get",
    path: "/api/webhooks/{webhookId}",
    params,
    output: object({
      /** The endpoint as it is now. */
      webhook,
    }),
    errors: ["not_found"],
  }),
  /** Change a webhook endpoint; an inactive one keeps its queue. */
  update: endpoint({
    ...writing,
    id: "webhooks.update",
    method: "PATCH",
    path: "/api/webhooks/{webhookId}",
    effect: "update",
    params,
    body: strictObject({
      /** New address: an absolute URL of at most 2,048 characters. Default: unchanged. */
      url: z.optional(url),
      /** Kinds of events to send from now on. `*`: every kind. Default: unchanged. */
      events: z.optional(events),
      /** New note, at most 500 characters. Default: unchanged. */
      description: z.optional(description),
      /** `false` pauses deliveries, `true` resumes them. Default: unchanged. */
      active: z.optional(z.boolean()),
    }),
    status: 200,
    output: object({
      /** The endpoint as it is now. */
      webhook,
    }),
    errors: ["not_found", "url_refused"],
  }),
  /** Delete a webhook endpoint with its deliveries. */
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
  /** Send a test event now, also to an inactive endpoint, and answer how it went. */
  test: endpoint({
    ...writing,
    id: "webhooks.test",
    method: "POST",
    path: "/api/webhooks/{webhookId}/test",
    // Sends a request to somebody else: a repeat sends another.
    effect: "append",
    params,
    status: 200,
    output: object({
      /** The delivery as it is now. */
      delivery,
    }),
    errors: ["not_found"],
  }),
  /** Make a new signing secret; the old one signs beside it for 24 hours. */
  rotateSecret: endpoint({
    ...writing,
    id: "webhooks.rotateSecret",
    method: "POST",
    path: "/api/webhooks/{webhookId}/rotate-secret",
    effect: "append",
    params,
    status: 200,
    output: object({
      /** Key that signs the deliveries. It is a secret and is shown once. */
      secret: z.string(),
      /** Until when the old secret signs too: RFC 3339 in UTC, 24 hours after the change. */
      previousSecretExpiresAt: timestamp,
    }),
    errors: ["not_found"],
    secretResponse: true,
  }),
  /** List an endpoint's deliveries, newest first. */
  deliveries: endpoint({
    ...reading,
    id: "webhooks.deliveries",
    path: "/api/webhooks/{webhookId}/deliveries",
    params,
    query: strictObject({
      ...pageQuery,
      /** Lists only deliveries with this status. Default: every status. */
      status: z.optional(z.enum(["pending", "delivering", "success", "failed"])),
    }),
    output: object({
      /** Deliveries, newest first. Each is kept for 30 days. */
      deliveries: z.array(delivery),
      ...nextPage,
    }),
    errors: ["not_found"],
  }),
  /** One delivery with its attempts. */
  delivery: endpoint({
    ...reading,
    id: "webhooks.delivery",
    path: "/api/webhooks/{webhookId}/deliveries/{deliveryId}",
    params: deliveryParams,
    output: object({
      /** The delivery as it is now. */
      delivery,
      /** Every attempt of the delivery. */
      attempts: z.array(attempt),
    }),
    errors: ["not_found"],
  }),
  /** Send a delivery again, with the same webhook-id. */
  redeliver: endpoint({
    ...writing,
    id: "webhooks.redeliver",
    method: "POST",
    path: "/api/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver",
    effect: "append",
    params: deliveryParams,
    status: 202,
    output: object({
      /** The delivery as it is now. */
      delivery,
    }),
    errors: ["not_found", "webhook_inactive"],
  }),
  /** Send the failed deliveries of a time range again. */
  recover: endpoint({
    ...writing,
    id: "webhooks.recover",
    method: "POST",
    path: "/api/webhooks/{webhookId}/recover",
    effect: "append",
    params,
    body: strictObject({
      /** Sends failed deliveries again from this time on: RFC 3339 in UTC. */
      since: timestamp,
      /** Up to this time: RFC 3339 in UTC. Default: now. */
      until: z.optional(timestamp),
    }),
    status: 202,
    /** How many failed deliveries it sends again. */
    output: object({
      /** Number of failed deliveries that are sent again. */
      count: z.int(),
    }),
    errors: ["not_found", "webhook_inactive"],
  }),
} as const;

const json: Named<Readonly<Record<string, unknown>>> = z.looseObject({});

const eventDescriptionSchema = object({
  /** Name of the kind, such as `file.uploaded`. */
  kind: z.string(),
  /** When the event happens. */
  description: z.string(),
  /** JSON Schema 2020-12 of the payload. */
  schema: json,
  /** A payload as it would be sent. */
  example: json,
});

/** A kind of event that you can subscribe to. */
export interface EventDescription extends Parsed<typeof eventDescriptionSchema> {}

const eventDescription: Named<EventDescription> = eventDescriptionSchema;

export const webhookEventsGroup = {
  /** The kinds of events, each with the JSON Schema of its payload and an example. */
  list: endpoint({
    ...reading,
    id: "webhookEvents.list",
    path: "/api/webhook-events",
    output: object({
      /** Every kind of event. */
      events: z.array(eventDescription),
    }),
    errors: [],
  }),
} as const;

export const eventsGroup = {
  /** Server-sent events as they happen, resumable by sequence number. */
  stream: endpoint({
    ...following,
    id: "events.stream",
    method: "GET",
    path: "/api/events",
    effect: "read",
    query: strictObject({
      /** Begins after this sequence number. Default: with what happens from now on. */
      after: z.optional(integerText(0, Number.MAX_SAFE_INTEGER)),
    }),
    /** The sequence number that an EventSource saw last, sent when it reconnects. Wins over `after`. */
    headers: object({
      /** Sequence number you saw last. It wins over `after`. Default: `after` counts. */
      "last-event-id": z.optional(integerText(0, Number.MAX_SAFE_INTEGER)),
    }),
    status: 200,
    output: bytes("text/event-stream"),
    errors: ["cursor_expired"],
  }),
} as const;
