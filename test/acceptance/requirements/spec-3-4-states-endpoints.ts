import { built, leftOpen, pending, section } from "../requirement.ts";

export const specStatesAndEndpoints = [
  ...section("spec §3", [
    built("S3-key-revoked", "API key: revoke sets revoked_at and all later requests with the key fail with 401."),
    built("S3-key-revoked-in-flight", "API key: requests in flight when it is revoked fail."),
    built("S3-key-expired", "API key: once its expiry is reached, requests return 401."),
    pending("identity", "S3-refresh-rotated", "Refresh token: refresh replaces it and issues a new access token."),
    pending("identity", "S3-refresh-reuse", "Refresh token: reuse after rotation revokes every token of the family."),
    pending("identity", "S3-refresh-ends", "Refresh token: after 30 days or a revocation the user is logged out."),
    pending("invites", "S3-invite-used", "Invite: redeemed by an agent becomes used and issues an API key."),
    pending("invites", "S3-invite-revoked", "Invite: revoke makes it revoked."),
    pending("invites", "S3-invite-expired", "Invite: its lifetime over, it is expired."),
    pending("identity", "S3-email-verified", "E-mail: a valid single-use token verifies it."),
    pending("identity", "S3-password-reset", "Password: a valid single-use token sets a new one."),
    pending("webhooks", "S3-webhook-active", "Webhook endpoint: active true or false."),
    leftOpen("S3-open-delivery-states", "Values and transitions of the delivery statuses: not shown.", [
      "D6-delivery-status",
      "D6-last-delivery-status",
    ]),
  ]),
  ...section("spec §4", [
    built("S4-authorization-required", "Unless stated, an endpoint requires an Authorization header."),
  ]),
  ...section("spec §4.1", [
    pending("webhooks", "S4.1-list", "GET /api/webhooks/ answers 200 { webhooks }."),
    pending("webhooks", "S4.1-get", "GET /api/webhooks/{webhookId} answers 200 { webhook } or 404 { error }."),
    pending(
      "webhooks",
      "S4.1-test",
      "POST /api/webhooks/{webhookId}/test, no body, answers 200 { delivery } or 404 { error }.",
    ),
    pending("webhooks", "S4.1-test-sends", "The test operation sends a test delivery to the endpoint."),
    leftOpen("S4.1-open-changes", "Requests for creating, changing and deleting endpoints (owner-only): not shown.", [
      "D6-create",
      "D6-update-delete",
    ]),
  ]),
  ...section("spec §4.2", [
    built("S4.2-dev-signup", "POST /api/auth/dev-signup { email, name? } answers 200 with the dev-signup result."),
    built("S4.2-dev-signup-email", "dev-signup: email is required and must be an e-mail address."),
    built("S4.2-dev-signup-404", "dev-signup answers 404 { error }."),
    built("S4.2-dev-signup-409", "dev-signup answers 409 { error }."),
    built(
      "S4.2-create-key",
      "POST /api/auth/api-keys { name, scopes?, expiresInDays? } answers the created key with field key, shown once.",
    ),
    pending("identity", "S4.2-refresh", "POST /api/auth/refresh: a new access token and a rotated refresh token."),
    pending("identity", "S4.2-forgot-password", "POST /api/auth/forgot-password: always 200; rate-limited per IP."),
    pending("identity", "S4.2-reset-password", "POST /api/auth/reset-password { token, newPassword }."),
    pending("identity", "S4.2-verify-email", "POST /api/auth/verify-email { token }."),
    pending(
      "identity",
      "S4.2-resend-verification",
      "POST /api/auth/resend-verification { email }: rate-limited per IP.",
    ),
    pending(
      "identity",
      "S4.2-check-access-code",
      "POST /api/auth/check-access-code { code } validates a signup access code.",
    ),
    pending("identity", "S4.2-idp", "GET /api/auth/idp: an authorization URL."),
    pending(
      "identity",
      "S4.2-idp-zklogin",
      "GET /api/auth/idp/zklogin: an authorization URL of the zero-knowledge flow.",
    ),
    pending(
      "identity",
      "S4.2-idp-callback",
      "POST /api/auth/idp/callback: tokens; finds or creates the user; no chain keypair is derived.",
    ),
    pending(
      "identity",
      "S4.2-zklogin-auth",
      'POST /api/auth/idp/zklogin-auth: combined login; sets chainAddressSource "zklogin".',
    ),
    pending(
      "identity",
      "S4.2-zklogin-two-step",
      "POST /idp/zklogin-token then /idp/zklogin-auth: the two-step equivalent.",
    ),
    pending("identity", "S4.2-bare-paths", "The two-step pair is written without the /api/auth prefix."),
    leftOpen(
      "S4.2-open-paths",
      "Other auth bodies, signup and sign-in paths, key revoke, list and detail: not shown.",
      ["D3-signup", "D3-login", "D4-keys-list", "D4-keys-get", "D4-keys-revoke"],
    ),
  ]),
  ...section("spec §4.3", [
    built("S4.3-account", "GET /api/account returns the account including accessLevel."),
    built("S4.3-files", "GET /api/files lists files and accepts an API key."),
    leftOpen("S4.3-open-paths", "Paths and payloads of the operations that the CLI has: not shown.", [
      "D5-upload-raw",
      "D5-content-get",
      "D5-folders-paths",
      "D5-vaults-paths",
      "D5-members",
      "D4-keys-list",
      "D4-invite-create",
      "D4-link-chain",
    ]),
    pending("cli", "S4.3-invite-options", "CLI options of invite creation: --name, --scopes, --vaults, --expires."),
  ]),
];
