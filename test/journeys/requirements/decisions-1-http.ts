import { section } from "../requirement.ts";

const CONVENTIONS = [
  "D1-dates: Dates are RFC 3339 UTC with milliseconds and Z; null when it has not happened.",
  "D1-create-201: A create answers 201.",
  "D1-dev-signup-200: dev-signup stays 200.",
  "D1-test-200: The webhook test stays 200.",
  "D1-delete-204: A delete answers 204.",
  "D1-second-delete-kept: A second delete of a kept row (a key) is 204 and changes nothing.",
  "D1-second-delete-kept-more: So it is for an invite and a session.",
  "D1-second-delete-gone: A second delete of a vanished row is 404.",
  "D1-sdk-delete-retry: The SDK takes that 404 as done on its own retry.",
  "D1-list-limit: Lists take limit 1–1000, default 100.",
  "D1-list-cursor: Lists answer { <plural>, nextCursor: string|null }, keyset on (createdAt, id).",
  "D1-trailing-slash: /api/webhooks/ and /api/webhooks are both accepted.",
  "D1-one-trailing-slash: A path with an empty segment, two trailing slashes included, is 404.",
  "D1-validation-400: A validation failure is 400 and its message names the field (body.email: …).",
  "D1-bad-uuid-400: A bad uuid in the path is 400.",
  "D1-malformed-json-400: Malformed JSON is 400.",
  "D1-media-type-415: A wrong media type is 415.",
  "D1-too-large-413: Too large a body is 413.",
  'D1-401-challenge: A missing or bad credential is 401 with WWW-Authenticate: Bearer error="invalid_token".',
  "D1-owner-only-403: An agent key on an owner-only operation is 403 { error }.",
  "D1-missing-scope-403: A missing scope is 403 { error }.",
  "D1-foreign-object-404: An object outside the account is 404, no disclosure.",
  "D1-vault-limit-404: An object outside the key's vault list is 404, no disclosure.",
  'D1-unverified-billing-403: Billing without a verified e-mail is 403 { error: "Email verification required" }.',
  "D1-conflict-409: A taken name, a wrong upload offset and a running idempotent request are 409.",
  "D1-precondition-412: A failed If-Match is 412.",
  "D1-gone-410-upload: An expired upload is 410.",
  "D1-gone-410-invite: A used, expired or revoked invite is 410.",
  "D1-rate-limited: Rate limited is 429 { error } with Retry-After, RateLimit-Policy and RateLimit.",
  "D1-file-over-maximum-413: A file over the maximum size is 413.",
  'D1-quota-403: Over the account quota is 403 { error: "Storage quota exceeded" }.',
  "D1-quota-in-flight: Bytes in flight count against the quota.",
  "D1-budgets: budgets of a key or invite: 403 budget_storage, 429 budget_exceeded with Retry-After; X-Budget names it.",
  "D1-disk-full-507: The server's full disk is 507 with Retry-After.",
  'D1-server-error-500: A server error is 500 { error: "Internal error" } with X-Request-Id, never the message.',
  "D1-error-shape: An error body is exactly { error: string }.",
  "D1-error-code-header: The machine code of an error is in X-Error-Code.",
];

const IDEMPOTENCY_AND_VERSIONS = [
  "D1-idempotency-repeat: Idempotency-Key is accepted on every POST that creates: a repeat answers the first response.",
  "D1-idempotency-secrets: Responses with a raw key are never kept: a repeat answers 409 with the id.",
  "D1-idempotency-24h: Idempotency records are kept 24 h per (account, key).",
  "D1-idempotency-fingerprint: The fingerprint is over method, path, query and body; another request with the key is 422.",
  "D1-idempotency-bytes: A byte body counts by length and type in the fingerprint.",
  "D1-idempotency-changes: Idempotency-Key is accepted on every PATCH, PUT and DELETE that changes a file or a folder.",
  "D1-idempotency-running: A repeat while the first still runs is 409.",
  "D1-versioning: API-Version: YYYY-MM-DD is optional and echoed.",
  "D1-openapi-semver: OpenAPI info.version is a semantic version.",
  "D1-deprecation: Deprecation and Sunset headers mark what will go; changes in /api are additive only.",
  "D1-request-id: X-Request-Id goes in and out (uuid).",
];

const OPEN_OPERATIONS = [
  "D1-open-dev-signup: dev-signup needs no credential.",
  "D1-open-sign-in: signup, login, refresh, logout, password and mail operations, access codes and provider operations need no credential.",
  "D1-open-redeem: Invite redeem needs no credential.",
  "D1-open-billing-events: Billing events need no credential (they are signed).",
  "D1-open-health: Health needs no credential.",
  "D1-open-metrics: Metrics answer loopback or a token.",
  "D1-open-openapi: OpenAPI needs no credential.",
  "D1-everything-else: Everything else needs section 5.2's header.",
];

const AT_REST = [
  "D1-mail-tokens: Mail tokens are minted when the mail is sent, never queued; the development outbox is files.",
  "D1-webhook-secrets: Webhook secrets are encrypted under SERVICE_MASTER_KEY.",
  "D1-hashes: Keys are kept as SHA-256 hashes.",
  "D1-hashes-codes: Codes and tokens are kept as SHA-256 hashes.",
  "D1-changes-row: One changes row is written in the transaction of every change: actor, key id, chain address, action, target.",
  "D1-changes-sequence: The changes rows carry a per-account sequence without gaps.",
  "D1-changes-audit: The audit log chains the changes rows.",
  "D1-changes-readers: Webhooks deliver the changes rows, the event feed streams them.",
];

export const decisionsHttp = section("decisions §1", [
  ...CONVENTIONS,
  ...IDEMPOTENCY_AND_VERSIONS,
  ...OPEN_OPERATIONS,
  ...AT_REST,
]);
