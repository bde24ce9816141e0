/** The fake's event feed and the catalogue of its events. */
import { EVENT_KINDS, eventSchema, isEventKind, isSubscribed, type api, type EventKind } from "@coffer/contract";
import * as z from "zod/mini";
import { Reply, type GroupHandlers } from "../handlers.ts";
import { isSeen } from "./changes.ts";
import type { Change } from "./identity-state.ts";
import { enqueue } from "./sending.ts";
import type { Caller, State } from "./state.ts";
import { messageIdOf, toEvent, type ToldEvent } from "./webhook-state.ts";

const HEADERS = { "content-type": "text/event-stream", "x-accel-buffering": "no" };

/** Passes a change on to the feed and the webhooks of its account, if it is an event. */
export function tell(state: State, accountId: string, change: Change): void {
  const { action, occurredAt: timestamp, sequence, actor, object } = change;
  for (const wake of state.readers) wake();
  if (object === null || !isEventKind(action)) return;
  const event = toEvent({ type: action, timestamp, accountId, sequence, actor, object });
  const told = { messageId: messageIdOf(change.id), event };
  state.events.set(accountId, [...(state.events.get(accountId) ?? []), told]);
  for (const row of state.webhooks.values())
    if (row.accountId === accountId && isSubscribed(row.value.events, action)) enqueue(state, row, told);
}

export function eventHandlers(state: State): GroupHandlers<typeof api.events, Caller> {
  return {
    stream: ({ query, headers }, caller) => {
      const { accountId } = caller;
      const head = state.changes.get(accountId)?.length ?? 0;
      const seen = headers["last-event-id"] ?? query.after ?? head;
      return new Reply(openFeed(state, caller, Math.min(seen, head)), { headers: HEADERS });
    },
  };
}

/** Open until its reader goes. */
function openFeed(state: State, caller: Caller, from: number): ReadableStream<Uint8Array> {
  let after = from;
  let wake = (): void => undefined;
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        controller.enqueue(encode(`retry: 2000\nid: ${String(from)}\n\n`));
      },
      pull: async (controller) => {
        for (;;) {
          const changes = state.changes.get(caller.accountId) ?? [];
          const all = (state.events.get(caller.accountId) ?? []).filter(({ event }) => event.data.sequence > after);
          after = all.at(-1)?.event.data.sequence ?? after;
          const news = all.filter(({ event }) => isSeen(changes[event.data.sequence - 1], caller));
          if (news.length > 0) {
            controller.enqueue(encode(news.map(renderEvent).join("")));
            return;
          }
          await new Promise<void>((resolve) => state.readers.add((wake = resolve)));
          if (!state.readers.delete(wake)) return;
        }
      },
      cancel: () => {
        state.readers.delete(wake);
        wake();
      },
    },
    { highWaterMark: 1 },
  );
}

function renderEvent({ event }: ToldEvent): string {
  return `id: ${String(event.data.sequence)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

export function catalogueHandlers(): GroupHandlers<typeof api.webhookEvents, Caller> {
  return { list: () => ({ events: EVENT_KINDS.map(describe) }) };
}

function describe(kind: EventKind) {
  const schema = z.toJSONSchema(eventSchema(kind)) as Record<string, unknown>;
  return { kind, description: kind.replace(".", " ").replaceAll("_", " "), schema, example: exampleOf(kind) };
}

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const ADDRESS = `0x${"2a".repeat(32)}`;

/** One object for every kind: a schema takes the fields that it has. */
const ANYTHING = {
  ...{ id: ID, vaultId: ID, folderId: null, versionId: ID, size: 5_242_880, encrypted: false, parentId: null },
  ...{ vaultType: "public", chainAddress: ADDRESS, keyId: ID, plan: "pro" },
  endsAt: "2026-11-20T17:00:00.000Z",
};
const TYPES = ["file", "folder", "vault", "vault_member", "api_key", "invite", "account", "webhook"];

function exampleOf(type: EventKind): Record<string, unknown> {
  const actor = { type: "api-key", id: ID, chainAddress: ADDRESS };
  const sequence = type === "webhook.test" ? 0 : 42;
  for (const named of TYPES) {
    const object = { ...ANYTHING, type: named, id: named === "vault_member" ? ADDRESS : ID };
    const event = { type, timestamp: "2026-11-20T17:00:00.000Z", data: { accountId: ID, sequence, actor, object } };
    const parsed = z.safeParse(eventSchema(type), event);
    if (parsed.success) return { ...parsed.data };
  }
  throw new Error(`no example of ${type}`);
}
