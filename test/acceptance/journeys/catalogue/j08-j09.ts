import { builtObservable, pendingObservable, sharedObservable, type Journey } from "../observable.ts";

const webhook: Journey = {
  name: "J8",
  title: "Webhook to the owner's system",
  observables: [
    pendingObservable("cli", "J8-create", "cli", "webhooks create prints the secret once"),
    builtObservable("J8-api-create", "api", "the request answers { webhook, secret }; the secret is shown once"),
    builtObservable("J8-none", "api", 'before any delivery lastDeliveryStatus is "none"'),
    builtObservable(
      "J8-test-record",
      "api",
      "the test answers 200 { delivery } with all fields; httpStatus 200, attempts 1, lastError a string [S4.1-test S6-test-record]",
    ),
    builtObservable("J8-no-answer", "api", "without any HTTP answer httpStatus is 0"),
    builtObservable("J8-sdk-create", "sdk", "the SDK makes an endpoint and its test answers the same record"),
    pendingObservable("tools", "J8-mcp-test", "mcp", "webhook_test answers the same record"),
    builtObservable(
      "J8-signature",
      "webhook",
      "one POST; the signature verifies, and fails with one byte changed; timestamp within 5 min; id unique",
    ),
    builtObservable(
      "J8-sdk-verify",
      "sdk",
      "the SDK verifies it with both secrets given or one, and refuses it with one byte changed",
    ),
    builtObservable(
      "J8-event",
      "webhook",
      "an agent's upload arrives within 2 s with ids, sizes and the uploader's address [S6-subscribed-events]",
    ),
    builtObservable(
      "J8-sdk-feed",
      "sdk",
      "the SDK's event feed tells the same event, and goes on where a program stopped",
    ),
    sharedObservable(
      "J8-shared-event",
      "webhook",
      "a member's upload to a shared vault arrives with ids, the stored size and the uploader's address",
    ),
    sharedObservable("J8-no-names", "webhook", "no file name or content of a shared vault"),
    builtObservable("J8-no-public-names", "webhook", "nor any of a public vault"),
    builtObservable(
      "J8-retry",
      "webhook",
      "500 twice then 200: attempts 3, success, failureCount back to 0, last fields updated [S6-endpoint-reflects]",
    ),
    builtObservable(
      "J8-always-500",
      "api",
      "always 500: attempts = maxAttempts, failed, lastError names 500 [S6-attempts-bounded]",
    ),
    builtObservable("J8-slow", "webhook", "a receiver slower than the timeout: failed [D6-test]"),
    builtObservable("J8-redirect", "webhook", "a redirect to another host: failed, no request there"),
    builtObservable(
      "J8-private",
      "webhook",
      "a private address in production: failed, no request there [D6-blocked-address]",
    ),
    builtObservable(
      "J8-unknown",
      "api",
      "an unknown id is 404 { error } on GET and test; not-a-uuid 400 [S7-404-webhook]",
    ),
    builtObservable(
      "J8-rotate",
      "webhook",
      "after a rotation both signatures verify for the overlap [D6-rotate-secret]",
    ),
    builtObservable("J8-agent-403", "api", "an agent key on any webhook route is 403 [D0-agents-no-webhooks]"),
    builtObservable("J8-agent-tools", "mcp", "the agent's tool list has no webhook tool"),
  ],
};

const revoked: Journey = {
  name: "J9",
  title: "Key revoked",
  observables: [
    pendingObservable("cli", "J9-cli-revoke", "cli", "api-keys revoke revokes the key"),
    builtObservable(
      "J9-next-request",
      "api",
      "the next request with the key is 401 { error } [S3-key-revoked S5.3-immediate-revocation]",
    ),
    builtObservable("J9-webhook", "webhook", "api_key.revoked arrives at the owner's sink, once"),
    builtObservable("J9-second-process", "api", "so it is from a second server process on the same data"),
    builtObservable(
      "J9-in-flight",
      "api",
      "a 200 MiB upload in flight when the key is revoked fails with 401 [S3-key-revoked-in-flight]",
    ),
    builtObservable("J9-nothing-visible", "api", "no file of that upload becomes visible"),
    builtObservable("J9-partial-collected", "api", "its partial data is collected"),
    builtObservable(
      "J9-second-revoke",
      "api",
      "revokedAt is set once; a second revoke is 204 and does not change it [D1-second-delete-kept]",
    ),
    builtObservable("J9-mcp-signed-out", "mcp", "a tool answers isError with code signed_out"),
    builtObservable("J9-credentials-kept", "mcp", "the saved credentials are still on disk"),
    builtObservable("J9-expired", "api", "an expired key is 401 { error } [S3-key-expired]"),
    builtObservable("J9-sdk-typed", "sdk", "the SDK raises the typed error invalid_credential"),
    builtObservable("J9-sdk-no-retry", "sdk", "the SDK sends the request once"),
  ],
};

export const journeys8to9: readonly Journey[] = [webhook, revoked];
