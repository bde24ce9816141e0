import { builtObservable, pendingObservable, type Journey } from "../observable.ts";

const webhook: Journey = {
  name: "J8",
  title: "Webhook to the owner's system",
  observables: [
    pendingObservable("cli", "J8-create", "cli", "webhooks create prints the secret once"),
    pendingObservable(
      "webhooks",
      "J8-test-record",
      "api",
      "the test answers 200 { delivery } with all fields; httpStatus 200, attempts 1, lastError a string",
    ),
    pendingObservable("webhooks", "J8-no-answer", "api", "without any HTTP answer httpStatus is 0"),
    pendingObservable("tools", "J8-mcp-test", "mcp", "webhook_test answers the same record"),
    pendingObservable(
      "webhooks",
      "J8-signature",
      "webhook",
      "one POST; the signature verifies, and fails with one byte changed; timestamp within 5 min; id unique",
    ),
    pendingObservable(
      "webhooks",
      "J8-event",
      "webhook",
      "an agent's upload arrives within 2 s with ids, sizes and the uploader's address",
    ),
    pendingObservable("shared-vaults", "J8-no-names", "webhook", "no file name or content of a shared vault"),
    pendingObservable(
      "webhooks",
      "J8-retry",
      "webhook",
      "500 twice then 200: attempts 3, success, failureCount back to 0, last fields updated",
    ),
    pendingObservable(
      "webhooks",
      "J8-always-500",
      "api",
      "always 500: attempts = maxAttempts, failed, lastError names 500",
    ),
    pendingObservable("webhooks", "J8-slow", "webhook", "a receiver slower than the timeout: failed"),
    pendingObservable("webhooks", "J8-redirect", "webhook", "a redirect to another host: failed, no request there"),
    pendingObservable("webhooks", "J8-private", "webhook", "a private address in production: failed, no request there"),
    pendingObservable(
      "webhooks",
      "J8-unknown",
      "api",
      "an unknown id is 404 { error } on GET and test; not-a-uuid 400",
    ),
    pendingObservable("webhooks", "J8-none", "api", 'before any delivery lastDeliveryStatus is "none"'),
    pendingObservable("webhooks", "J8-rotate", "webhook", "after a rotation both signatures verify for the overlap"),
    pendingObservable("webhooks", "J8-agent-403", "api", "an agent key on any webhook route is 403"),
    pendingObservable("webhooks", "J8-agent-tools", "mcp", "the agent's tool list has no webhook tool"),
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
