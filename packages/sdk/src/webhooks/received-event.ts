import { isEventKind, type EventKind } from "@coffer/contract";
import type { EventActor, EventObjects } from "@coffer/contract";

/** An event of one kind. */
export interface KnownEvent<Kind extends EventKind> {
  /** Kind of the event: narrow on it. */
  readonly type: Kind;
  /** When it happened: RFC 3339 in UTC, with milliseconds. */
  readonly timestamp: string;
  /** What happened. */
  readonly data: EventData<EventObjects[Kind]>;
}

/** An event of a kind that this version does not have: the service is newer. Do not fail on it. */
export interface UnknownEvent {
  /** Kind of the event. */
  readonly type: string & Record<never, never>;
  /** When it happened: RFC 3339 in UTC, with milliseconds. */
  readonly timestamp: string;
  /** What happened. */
  readonly data: EventData<UnknownEventObject>;
}

/** The facts of an event. They hold ids, sizes and times, and never names, contents or keys. */
export interface EventData<About> {
  /** UUID of the account. */
  readonly accountId: string;
  /** Number of the change in the account. Later changes have higher numbers. 0: a test. */
  readonly sequence: number;
  /** The actor. */
  readonly actor: EventActor;
  /** What it was done to. */
  readonly object: About;
}

/** What an event of an unknown kind is about. */
export interface UnknownEventObject {
  /** Kind of the object. */
  readonly type: string;
  readonly [field: string]: unknown;
}

/** An event of a kind that this version has: narrow on `type`. */
export type WebhookEvent = { readonly [Kind in EventKind]: KnownEvent<Kind> }[EventKind];

/** The content of a delivery or of the event feed. Narrow with {@link isEvent} or {@link isKnownEvent}. */
export type ReceivedEvent = WebhookEvent | UnknownEvent;

/** The event of one kind. */
export type EventOf<Kind extends EventKind> = Extract<WebhookEvent, { type: Kind }>;

/** What events of one kind are about. */
export type EventObject<Kind extends EventKind = EventKind> = EventObjects[Kind];

/**
 * Whether the event is of one of these kinds.
 *
 * @example
 * ```ts
 * if (isEvent(event, "file.uploaded", "file.updated")) console.log(event.data.object.versionId);
 * ```
 */
export function isEvent<Kind extends EventKind>(
  event: ReceivedEvent,
  ...kinds: readonly Kind[]
): event is EventOf<Kind> {
  return (kinds as readonly string[]).includes(event.type);
}

/**
 * Whether this version has the event's kind: then a `switch` over `event.type` narrows.
 *
 * @example
 * ```ts
 * if (isKnownEvent(event) && event.type === "invite.redeemed") console.log(event.data.object.keyId);
 * ```
 */
export function isKnownEvent(event: ReceivedEvent): event is WebhookEvent {
  return isEventKind(event.type);
}

/**
 * The JSON text of an event; null for any other text. It checks the fields that every kind has, so that a program
 * misses none of them. The fields of its object are the sender's word.
 */
export function parseEvent(text: string): ReceivedEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return isReceivedEvent(value) ? value : null;
}

function isReceivedEvent(value: unknown): value is ReceivedEvent {
  if (!isRecord(value) || typeof value["type"] !== "string" || typeof value["timestamp"] !== "string") return false;
  const { data } = value;
  if (!isRecord(data) || !isRecord(data["actor"]) || !isRecord(data["object"])) return false;
  return (
    typeof data["accountId"] === "string" &&
    Number.isSafeInteger(data["sequence"]) &&
    typeof data["actor"]["type"] === "string" &&
    typeof data["object"]["type"] === "string"
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
