import { section } from "../requirement.ts";

const WEBHOOKS = [
  "D6-create: POST /api/webhooks/ { url, events, description? } answers 201 { webhook, secret }.",
  "D6-create-url: https only unless development; at most 2,048 characters, no credentials in the URL.",
  "D6-blocked-address: Nothing is sent to an address of a private network or of this machine, however it is written, unless the operator named it.",
  "D6-update-delete: PATCH answers 200 { webhook }, DELETE 204.",
  "D6-rotate-secret: rotate-secret answers { secret, previousSecretExpiresAt } (24 h).",
  "D6-deliveries: GET …/deliveries and …/deliveries/{deliveryId}.",
  "D6-redeliver: redeliver answers 202: the same webhook-id, a new attempt.",
  "D6-recover: recover { since, until? } answers 202 { count }.",
  "D6-catalogue: GET /api/webhook-events: catalogue with JSON Schema and example.",
  "D6-event-kinds: The event kinds are these; * is all; [a-zA-Z0-9_.].",
  "D6-member-events: vault.member_added, vault.member_removed and vault.member_ended are delivered.",
  "D6-payload: Payload { type, timestamp, data: { accountId, sequence, object } }, never plaintext names, keys or tokens.",
  "D6-headers: content-type, user-agent, webhook-id, webhook-timestamp, webhook-signature.",
  "D6-schedule: Attempts at 0, 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, each ±20 %.",
  "D6-max-attempts: maxAttempts is 10 for events, 1 for test deliveries.",
  "D6-delivery-status: pending → delivering → success | failed.",
  "D6-last-delivery-status: lastDeliveryStatus: none | pending | success | failed.",
  "D6-http-status: httpStatus is 0 when there was no HTTP response.",
  'D6-last-error: lastError is "" or a short class.',
  'D6-description: description is "" when unset.',
  "D6-failure-count: failureCount: consecutive failed attempts of any delivery, tests included, 0 after a success.",
  "D6-event-feed: GET /api/events?after=<sequence>: text/event-stream, owner with events:read; agents with files:read see their vaults.",
  "D6-member-ended: vault.member_ended is delivered.",
  "D6-change-list: GET /api/changes: the rows of the audit log, thin, by actor, vault, folder, kind and time, in bounded pages.",
  "D6-change-rights: It has the rights of the event feed. Members of another account see the shared vault that they name.",
  "D6-change-wait: It waits up to 50 s for a change, and then always has a cursor.",
  "D6-change-gaps: A cursor older than what is kept is 410 cursor_expired.",
  "D6-test: webhook.test works when inactive, waits ≤15 s, 200 with the record even if the target failed.",
  "D6-disable: 410 disables an endpoint at once; so do failures alone for 5 days.",
  "D6-disable-mail: Its owner is e-mailed.",
  "D6-queue-kept: The queue of an endpoint that is off is kept, and resumes on active=true.",
];

const DEVELOPMENT = [
  "D7-only-development: Development access holds only when SERVICE_ENV=development.",
  "D7-no-authorization: It holds only without an Authorization header.",
  "D7-order: Order: X-Dev-User-Id, X-Dev-Idp-Id, first user.",
  "D7-unknown-id-401: An unknown id is 401.",
  "D7-empty-401: An empty database is 401.",
  "D7-loopback-host: Only with a loopback Host, else 403.",
  "D7-cross-site: Only without a cross-site Origin or Sec-Fetch-Site, else 403.",
  "D7-refuse-non-loopback: Refuses to start in development on a non-loopback bind unless SERVICE_ALLOW_INSECURE_DEV=1.",
  "D7-dev-signup-404: dev-signup outside development is 404 { error } before body validation.",
];

export const decisionsWebhooksAndDevelopment = [
  ...section("decisions §6", WEBHOOKS),
  ...section("decisions §7", DEVELOPMENT),
];
