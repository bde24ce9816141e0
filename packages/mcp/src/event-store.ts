/** The events of one connection, so that a client that lost its stream gets what it missed. Kept in memory, the newest only. */
import type { EventStore } from "@modelcontextprotocol/server";

const MOST_EVENTS = 200;

type Message = Parameters<EventStore["storeEvent"]>[1];

export function createEventStore(): EventStore {
  const kept = new Map<string, { readonly streamId: string; readonly message: Message }>();
  let next = 0;
  return {
    storeEvent: (streamId, message) => {
      const id = `${String(next)}.${streamId}`;
      next += 1;
      kept.set(id, { streamId, message });
      const [oldest] = kept.keys();
      if (kept.size > MOST_EVENTS && oldest !== undefined) kept.delete(oldest);
      return Promise.resolve(id);
    },
    getStreamIdForEventId: (id) => Promise.resolve(kept.get(id)?.streamId),
    replayEventsAfter: async (lastId, { send }) => {
      const streamId = kept.get(lastId)?.streamId;
      if (streamId === undefined) throw new RangeError("No such event is kept");
      let isAfter = false;
      for (const [id, event] of [...kept]) {
        if (isAfter && event.streamId === streamId) await send(id, event.message);
        isAfter ||= id === lastId;
      }
      return streamId;
    },
  };
}
