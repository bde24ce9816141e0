/** The events of one connection, so that a client that lost its stream gets what it missed. Kept in memory, the newest only. */
import type { EventStore } from "@modelcontextprotocol/server";

const MOST_EVENTS = 200;

type Message = Parameters<EventStore["storeEvent"]>[1];

export class RecentEvents implements EventStore {
  readonly #events = new Map<string, { readonly streamId: string; readonly message: Message }>();
  #next = 0;

  storeEvent(streamId: string, message: Message): Promise<string> {
    const id = `${String(this.#next)}.${streamId}`;
    this.#next += 1;
    this.#events.set(id, { streamId, message });
    const [oldest] = this.#events.keys();
    if (this.#events.size > MOST_EVENTS && oldest !== undefined) this.#events.delete(oldest);
    return Promise.resolve(id);
  }

  getStreamIdForEventId(id: string): Promise<string | undefined> {
    return Promise.resolve(this.#events.get(id)?.streamId);
  }

  async replayEventsAfter(lastId: string, { send }: Parameters<EventStore["replayEventsAfter"]>[1]): Promise<string> {
    const streamId = this.#events.get(lastId)?.streamId;
    if (streamId === undefined) throw new RangeError("No such event is kept");
    let isAfter = false;
    for (const [id, event] of [...this.#events]) {
      if (isAfter && event.streamId === streamId) await send(id, event.message);
      isAfter ||= id === lastId;
    }
    return streamId;
  }
}
