/** The fake service's state of webhooks and their events. */
import type { Delivery, DeliveryAttempt, EventObject, Webhook, WebhookEvent } from "@coffer/contract";
import type { Row } from "./row.ts";

export interface WebhookRow extends Row<Webhook> {
  /** Newest first. `endsAt`: milliseconds since 1970 from when it no longer signs; null: it stays. */
  secrets: { readonly text: string; readonly endsAt: number | null }[];
}

export interface DeliveryRow extends Row<Delivery> {
  readonly webhookId: string;
  /** The bytes of every attempt. */
  readonly payload: string;
  readonly trigger: DeliveryAttempt["trigger"];
  attempts: DeliveryAttempt[];
}

/** An event as its feed and its deliveries carry it. */
export interface ToldEvent {
  readonly messageId: string;
  readonly event: WebhookEvent;
}

/** Takes the part of the network between the fake and the receivers of its webhooks. A rejection is a refused connection. */
export type Receive = (request: Request) => Response | Promise<Response>;

export interface WebhookState {
  readonly webhooks: Map<string, WebhookRow>;
  readonly deliveries: Map<string, DeliveryRow>;
  /** By account, oldest first. */
  readonly events: Map<string, ToldEvent[]>;
  /** Woken by every event. */
  readonly readers: Set<() => void>;
  readonly receive: Receive | null;
}

export function createWebhookState(receive: Receive | null): WebhookState {
  return { webhooks: new Map(), deliveries: new Map(), events: new Map(), readers: new Set(), receive };
}

/** An event about an object, whether an endpoint receives it or not. */
export type Told = Pick<WebhookEvent, "type" | "timestamp"> & {
  readonly accountId: string;
  readonly sequence: number;
  readonly actor: WebhookEvent["data"]["actor"];
  readonly object: EventObject;
};

export function toEvent({ type, timestamp, accountId, sequence, actor, object }: Told): WebhookEvent {
  const { type: kind, id, chainAddress } = actor;
  const data = { accountId, sequence, actor: { type: kind, id, chainAddress }, object };
  // Kind and object were made together; the type cannot follow the pair through its two halves.
  return { type, timestamp, data } as WebhookEvent;
}

/** `msg_` and 32 hex digits. */
export function messageIdOf(changeId: string): string {
  return `msg_${changeId.replaceAll("-", "")}`;
}
