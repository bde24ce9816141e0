/** The event feed (specification §4.1), over as many connections as it takes. */
import { eventsGroup } from "@coffer/contract";
import { callOn, type ByteAnswer } from "../http/call.ts";
import { ContractError, SdkError } from "../http/errors.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { parseEvent, type ReceivedEvent } from "../webhooks/received-event.ts";
import { LONGEST_WAIT_MS, waitToReconnect } from "./reconnect.ts";
import { createSseParser, type SseBlock } from "./sse-parser.ts";

/** For the event feed. */
export interface FollowOptions {
  /**
   * The `data.sequence` that you handled last: the feed begins with what came after it. Default: with events from now on. The feed ends with
   * `cursor_expired` where the service does not have that number any more, since it was restored from a backup.
   */
  readonly after?: number | undefined;
  /** Ends the feed when it aborts. Default: it goes on. */
  readonly signal?: AbortSignal | undefined;
  /** The connection was lost, and the next one begins after `waitMs`; for a log. Default: no function. */
  readonly onReconnect?: ((error: SdkError | null, waitMs: number) => void) | undefined;
}

export interface EventResource {
  /**
   * Follows events of the account as they happen: each once and in order, over as many connections as it takes. Keep
   * `event.data.sequence` and pass it as `after` to go on where a program stopped. Ends when `signal` aborts. Rejects
   * with an {@link SdkError} when the service cannot be reached at first, or refuses.
   *
   * @example
   * ```ts
   * for await (const event of client.events.follow({ after: 41, signal: AbortSignal.timeout(60_000) })) {
   *   console.log(event.data.sequence, event.type);
   * }
   * ```
   */
  follow(options?: FollowOptions): AsyncGenerator<ReceivedEvent, void, undefined>;
}

export function eventResource(connection: Connection): EventResource {
  return { follow: (options) => new EventFeed(connection, options).events() };
}

/** Milliseconds before the next connection, if the service names none. */
const FIRST_WAIT_MS = 2_000;

/**
 * The events one by one. The first connection is tried as often as any call. Once one was open, lost ones are
 * opened again until the signal aborts or the service refuses for good.
 */
class EventFeed {
  readonly #connection: Connection;
  readonly #options: FollowOptions;
  /** Sequence number of the last event returned; null before the service has said where the feed begins. */
  #lastSequence: number | null;
  /** Milliseconds that the service asked for. */
  #waitMs = FIRST_WAIT_MS;
  /** Connections in a row that brought nothing. */
  #failures = 0;
  /** A connection was open: from then on the feed never gives up. */
  #wasOpen = false;

  constructor(connection: Connection, options: FollowOptions = {}) {
    this.#connection = connection;
    this.#options = options;
    this.#lastSequence = options.after ?? null;
  }

  async *events(): AsyncGenerator<ReceivedEvent, void, undefined> {
    while (!this.#isAborted()) {
      let error: SdkError | null = null;
      try {
        yield* this.#readConnection();
      } catch (failure) {
        if (this.#isAborted()) return;
        if (!this.#wasOpen || !(failure instanceof SdkError) || !failure.retryable) throw failure;
        error = failure;
      }
      if (this.#isAborted()) return;
      // Longer with every connection that brought nothing.
      const atMostMs = Math.min(LONGEST_WAIT_MS, this.#waitMs * 2 ** Math.max(0, this.#failures - 1));
      const { onReconnect, signal } = this.#options;
      await waitToReconnect(this.#connection, { error, atMostMs, onReconnect, signal });
    }
  }

  async *#readConnection(): AsyncGenerator<ReceivedEvent, void, undefined> {
    const query = this.#lastSequence === null ? {} : { after: this.#lastSequence };
    const options: CallOptions = { signal: this.#options.signal, ...(this.#wasOpen ? { retries: 0 } : {}) };
    this.#failures += 1;
    const answer = await callOn(this.#connection, eventsGroup.stream, { query }, options);
    this.#wasOpen = true;
    for await (const block of blocksOf(answer)) {
      this.#failures = 0;
      this.#waitMs = block.retry ?? this.#waitMs;
      const event = this.#eventOf(block);
      if (event !== null) yield event;
      // Aborted while the reader was at work: it does not want what came before the abort.
      if (this.#isAborted()) return;
    }
  }

  /** The event of a block, unless it was returned before; null if there is none. */
  #eventOf({ id, data }: SseBlock): ReceivedEvent | null {
    if (data === null) {
      // An id without an event: where this connection begins.
      if (id !== null) this.#lastSequence = parseSequence(id);
      return null;
    }
    const event = parseEvent(data);
    if (event === null) throw broken("an event that is none");
    const { sequence } = event.data;
    if (this.#lastSequence !== null && sequence <= this.#lastSequence) return null;
    this.#lastSequence = sequence;
    return event;
  }

  #isAborted(): boolean {
    return this.#options.signal?.aborted === true;
  }
}

function parseSequence(id: string): number {
  const sequence = /^\d{1,16}$/.test(id) ? Number(id) : NaN;
  if (!Number.isSafeInteger(sequence)) throw broken("an id that is no sequence number");
  return sequence;
}

async function* blocksOf({ headers, body }: ByteAnswer): AsyncGenerator<SseBlock, void, undefined> {
  const reader = body.getReader();
  try {
    if (!/^text\/event-stream\s*(;|$)/i.test(headers.get("content-type") ?? "")) throw broken("not an event stream");
    const decoder = new TextDecoder();
    const parse = createSseParser();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      yield* parseOrRefuse(parse, decoder.decode(next.value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => undefined); // At the end, or when nobody reads any more; either way the connection closes.
  }
}

function parseOrRefuse(parse: (text: string) => SseBlock[], text: string): SseBlock[] {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof RangeError ? broken("an event without an end") : error;
  }
}

function broken(issue: string): ContractError {
  return new ContractError("response", eventsGroup.stream.id, [`body: ${issue}`]);
}
