/**
 * `@coffer/sdk/webhooks`: everything that a receiver of webhooks needs: WebCrypto, no dependency, a few KiB. For Node,
 * browsers, workers, Bun and Deno.
 * @packageDocumentation
 */
export type { EventKind } from "@coffer/contract";
export { isEvent, isKnownEvent } from "./received-event.ts";
export type {
  EventData,
  EventObject,
  EventOf,
  KnownEvent,
  ReceivedEvent,
  UnknownEvent,
  UnknownEventObject,
  WebhookEvent,
} from "./received-event.ts";
export {
  verifyWebhook,
  WebhookVerificationError,
  type Delivered,
  type HeaderFields,
  type VerificationReason,
} from "./verify.ts";
