/**
 * `@coffer/sdk/webhooks`: everything that a receiver of webhooks needs: WebCrypto, no dependency, a few KiB. For Node,
 * browsers, workers, Bun and Deno.
 * @packageDocumentation
 */
export type { EventKind, EventObject, WebhookEvent } from "@coffer/contract";
export { isEvent, isKnownEvent, type EventOf, type ReceivedEvent, type UnknownEvent } from "./received-event.ts";
export {
  verifyWebhook,
  WebhookVerificationError,
  type Delivered,
  type HeaderFields,
  type VerificationReason,
} from "./verify.ts";
