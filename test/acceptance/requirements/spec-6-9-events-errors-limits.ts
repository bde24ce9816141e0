import { built, leftOpen, section } from "../requirement.ts";

export const specEventsErrorsLimits = [
  ...section("spec §6", [
    built("S6-subscribed-events", "Endpoints receive deliveries of the event kinds they subscribe to."),
    built("S6-test-record", "The test operation produces a delivery record with its fields and timestamps."),
    built("S6-attempts-bounded", "A delivery's attempt counter is bounded by maxAttempts."),
    built("S6-endpoint-reflects", "failureCount, lastDeliveryStatus and lastDeliveryAt reflect recent outcomes."),
    leftOpen("S6-open-kinds", "The list of event kind names: not shown.", ["D6-event-kinds"]),
    leftOpen("S6-open-delivery", "Payload, signing, headers and retry schedule: not shown.", [
      "D6-payload",
      "D6-headers",
      "D6-schedule",
    ]),
  ]),
  ...section("spec §7", [
    built("S7-error-shape", "Error bodies have the shape { error: string }."),
    built("S7-401", "401 { error } for a missing, invalid, revoked or expired API key."),
    built("S7-401-jwt", "401 { error } for an expired JWT."),
    built("S7-404-webhook", "404 { error } for an unknown webhook id."),
    built("S7-404-dev-signup", "404 { error } for dev-signup outside development mode."),
    built("S7-409-dev-signup", "409 { error } when dev-signup conflicts with an existing account."),
    built("S7-200-forgot-password", "200 for forgot-password whatever the e-mail."),
    built("S7-forgot-no-disclosure", "forgot-password discloses nothing of whether the account exists."),
    leftOpen("S7-open-statuses", "Statuses of validation failures, owner-only operations and rate limits: not shown.", [
      "D1-validation-400",
      "D1-owner-only-403",
      "D1-rate-limited",
    ]),
  ]),
  ...section("spec §8", [
    built("S8-access-token", "Access token lifetime 15 minutes."),
    built("S8-refresh-token", "Refresh token lifetime 30 days."),
    built("S8-invite-default", "Invite default lifetime 1 hour."),
    built("S8-invite-maximum", "Invite maximum lifetime 72 hours."),
    built("S8-invite-uses", "Invite uses: 1."),
    built("S8-mail-limits", "Forgot-password and resend-verification are rate-limited per IP."),
    built("S8-attempts", "Delivery attempts are bounded by maxAttempts."),
    leftOpen("S8-open-numbers", "Rate limits, upload sizes, quotas and maxAttempts: not shown.", [
      "D2-general",
      "D2-file-sizes",
      "D2-plans",
      "D6-max-attempts",
    ]),
  ]),
  ...section("spec §9", [leftOpen("S9-open-versioning", "Versioning: not shown.", ["D1-versioning"])]),
];
