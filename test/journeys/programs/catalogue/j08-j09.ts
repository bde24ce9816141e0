import { journey, type Journey } from "../observable.ts";

const webhook = journey("J8", "Webhook to the owner's system", [
  "J8-create cli: webhooks create prints the secret once",
  "J8-api-create api: the request answers { webhook, secret }; the secret is shown once",
  'J8-none api: before any delivery lastDeliveryStatus is "none"',
  "J8-test-record api: the test answers 200 { delivery } with all fields; httpStatus 200, attempts 1, lastError a string [S4.1-test S6-test-record]",
  "J8-no-answer api: without any HTTP answer httpStatus is 0",
  "J8-sdk-create sdk: the SDK makes an endpoint and its test answers the same record",
  "J8-mcp-test mcp: webhook_send answers the same record",
  "J8-signature webhook: one POST; the signature verifies, and fails with one byte changed; timestamp within 5 min; id unique",
  "J8-sdk-verify sdk: the SDK verifies it with both secrets given or one, and refuses it with one byte changed",
  "J8-event webhook: an agent's upload arrives within 2 s with ids, sizes and the uploader's address [S6-subscribed-events]",
  "J8-sdk-feed sdk: the SDK's event feed tells the same event, and goes on where a program stopped",
  "J8-shared-event webhook (shared): a member's upload to a shared vault arrives with ids, the stored size and the uploader's address [S10]",
  "J8-no-names webhook (shared): no file name or content of a shared vault [S10]",
  "J8-no-public-names webhook: nor any of a public vault",
  "J8-retry webhook: 500 twice then 200: attempts 3, success, failureCount back to 0, last fields updated [S6-endpoint-reflects]",
  "J8-always-500 api: always 500: attempts = maxAttempts, failed, lastError names 500 [S6-attempts-bounded]",
  "J8-slow webhook: a receiver slower than the timeout: failed [D6-test]",
  "J8-redirect webhook: a redirect to another host: failed, no request there",
  "J8-private webhook: a private address in production: failed, no request there [D6-blocked-address]",
  "J8-unknown api: an unknown id is 404 { error } on GET and test; not-a-uuid 400 [S7-404-webhook]",
  "J8-rotate webhook: after a rotation both signatures verify for the overlap [D6-rotate-secret]",
  "J8-agent-403 api: an agent key on any webhook route is 403 [D0-agents-no-webhooks]",
  "J8-agent-tools mcp: the agent's tool list has no webhook tool",
]);

const revoked = journey("J9", "Key revoked", [
  "J9-cli-revoke cli: api-keys revoke revokes the key",
  "J9-next-request api: the next request with the key is 401 { error } [S3-key-revoked S5.3-immediate-revocation A5 E3]",
  "J9-webhook webhook: api_key.revoked arrives at the owner's sink, once",
  "J9-second-process api: so it is from a second server process on the same data [A5]",
  "J9-in-flight api: a 200 MiB upload in flight when the key is revoked fails with 401 [S3-key-revoked-in-flight]",
  "J9-nothing-visible api: no file of that upload becomes visible",
  "J9-partial-collected api: its partial data is collected",
  "J9-second-revoke api: revokedAt is set once; a second revoke is 204 and does not change it [D1-second-delete-kept]",
  "J9-mcp-signed-out mcp: a tool answers isError with code signed_out",
  "J9-credentials-kept mcp: the saved credentials are still on disk",
  "J9-expired api: an expired key is 401 { error } [S3-key-expired]",
  "J9-sdk-typed sdk: the SDK raises the typed error invalid_credential",
  "J9-sdk-no-retry sdk: the SDK sends the request once",
]);

export const journeys8to9: readonly Journey[] = [webhook, revoked];
