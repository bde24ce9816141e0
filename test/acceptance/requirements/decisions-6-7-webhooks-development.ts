import { built, pending, section } from "../requirement.ts";

const WEBHOOKS = [
  pending(
    "webhooks",
    "D6-create",
    "POST /api/webhooks/ { url, events, description? } answers 201 { webhook, secret }.",
  ),
  pending(
    "webhooks",
    "D6-create-url",
    "https only unless development; at most 2,048 characters, no credentials in the URL.",
  ),
  pending("webhooks", "D6-update-delete", "PATCH answers 200 { webhook }, DELETE 204."),
  pending("webhooks", "D6-rotate-secret", "rotate-secret answers { secret, previousSecretExpiresAt } (24 h)."),
  pending("webhooks", "D6-deliveries", "GET …/deliveries and …/deliveries/{deliveryId}."),
  pending("webhooks", "D6-redeliver", "redeliver answers 202: the same webhook-id, a new attempt."),
  pending("webhooks", "D6-recover", "recover { since, until? } answers 202 { count }."),
  pending("webhooks", "D6-catalogue", "GET /api/webhook-events: catalogue with JSON Schema and example."),
  pending("webhooks", "D6-event-kinds", "The event kinds are these; * is all; [a-zA-Z0-9_.]."),
  pending(
    "webhooks",
    "D6-payload",
    "Payload { type, timestamp, data: { accountId, sequence, object } }, never plaintext names, keys or tokens.",
  ),
  pending("webhooks", "D6-headers", "content-type, user-agent, webhook-id, webhook-timestamp, webhook-signature."),
  pending("webhooks", "D6-schedule", "Attempts at 0, 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, each ±20 %."),
  pending("webhooks", "D6-max-attempts", "maxAttempts is 10 for events, 1 for test deliveries."),
  pending("webhooks", "D6-delivery-status", "pending → delivering → success | failed."),
  pending("webhooks", "D6-last-delivery-status", "lastDeliveryStatus: none | pending | success | failed."),
  pending("webhooks", "D6-http-status", "httpStatus is 0 when there was no HTTP response."),
  pending("webhooks", "D6-last-error", 'lastError is "" or a short class.'),
  pending("webhooks", "D6-description", 'description is "" when unset.'),
  pending(
    "webhooks",
    "D6-failure-count",
    "failureCount counts consecutive failures; tests only set lastDeliveryStatus and lastDeliveryAt.",
  ),
  pending("webhooks", "D6-event-feed", "GET /api/events?after=<sequence>: text/event-stream, owner, events:read."),
  pending(
    "webhooks",
    "D6-test",
    "webhook.test works when inactive, waits ≤15 s, 200 with the record even if the target failed.",
  ),
  pending(
    "webhooks",
    "D6-disable",
    "410 disables at once, or failures alone for 5 days; owner e-mailed; the queue is kept.",
  ),
];

const DEVELOPMENT = [
  built("D7-only-development", "Development access holds only when SERVICE_ENV=development."),
  built("D7-no-authorization", "It holds only without an Authorization header."),
  built("D7-order", "Order: X-Dev-User-Id, X-Dev-Idp-Id, first user."),
  built("D7-unknown-id-401", "An unknown id is 401."),
  built("D7-empty-401", "An empty database is 401."),
  built("D7-loopback-host", "Only with a loopback Host, else 403."),
  built("D7-cross-site", "Only without a cross-site Origin or Sec-Fetch-Site, else 403."),
  built(
    "D7-refuse-non-loopback",
    "Refuses to start in development on a non-loopback bind unless SERVICE_ALLOW_INSECURE_DEV=1.",
  ),
  built("D7-dev-signup-404", "dev-signup outside development is 404 { error } before body validation."),
];

export const decisionsWebhooksAndDevelopment = [
  ...section("decisions §6", WEBHOOKS),
  ...section("decisions §7", DEVELOPMENT),
];
