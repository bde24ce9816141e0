import { section } from "../requirement.ts";

export const specEventsErrorsLimits = [
  ...section("spec §6", [
    "S6-subscribed-events: Endpoints receive deliveries of the event kinds they subscribe to.",
    "S6-test-record: The test operation produces a delivery record with its fields and timestamps.",
    "S6-attempts-bounded: A delivery's attempt counter is bounded by maxAttempts.",
    "S6-endpoint-reflects: failureCount, lastDeliveryStatus and lastDeliveryAt reflect recent outcomes.",
    "S6-open-kinds (open: D6-event-kinds): The list of event kind names: not shown.",
    "S6-open-delivery (open: D6-payload D6-headers D6-schedule): Payload, signing, headers and retry schedule: not shown.",
  ]),
  ...section("spec §7", [
    "S7-error-shape: Error bodies have the shape { error: string }.",
    "S7-401: 401 { error } for a missing, invalid, revoked or expired API key.",
    "S7-401-jwt: 401 { error } for an expired JWT.",
    "S7-404-webhook: 404 { error } for an unknown webhook id.",
    "S7-404-dev-signup: 404 { error } for dev-signup outside development mode.",
    "S7-409-dev-signup: 409 { error } when dev-signup conflicts with an existing account.",
    "S7-200-forgot-password: 200 for forgot-password whatever the e-mail.",
    "S7-forgot-no-disclosure: forgot-password discloses nothing of whether the account exists.",
    "S7-open-statuses (open: D1-validation-400 D1-owner-only-403 D1-rate-limited): Statuses of validation failures, owner-only operations and rate limits: not shown.",
  ]),
  ...section("spec §8", [
    "S8-access-token: Access token lifetime 15 minutes.",
    "S8-refresh-token: Refresh token lifetime 30 days.",
    "S8-invite-default: Invite default lifetime 1 hour.",
    "S8-invite-maximum: Invite maximum lifetime 72 hours.",
    "S8-invite-uses: Invite uses: 1.",
    "S8-mail-limits: Forgot-password and resend-verification are rate-limited per IP.",
    "S8-attempts: Delivery attempts are bounded by maxAttempts.",
    "S8-open-numbers (open: D2-general D2-file-sizes D2-plans D6-max-attempts): Rate limits, upload sizes, quotas and maxAttempts: not shown.",
  ]),
  ...section("spec §9", ["S9-open-versioning (open: D1-versioning): Versioning: not shown."]),
];
