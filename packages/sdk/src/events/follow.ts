/** Follows an account's event feed over as many connections as it takes. */
import { eventsGroup } from "@coffer/contract";
import { callOn, type ByteAnswer } from "../http/call.ts";
import { ContractError, SdkError } from "../http/errors.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { retryDelay } from "../http/retry.ts";
import { pause } from "../http/time-limit.ts";
import { parseEvent, type ReceivedEvent } from "../webhooks/received-event.ts";
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

/** The wait before the next connection if the server names none, and the longest. Milliseconds. */
const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 30_000;

interface Feed {
  readonly connection: Connection;
  readonly options: FollowOptions;
  /** Sequence number of the event given out last; null before the server has said where the feed begins. */
  place: number | null;
  /** Milliseconds that the server asked for. */
  wait: number;
  /** Connections in a row that brought nothing. */
  failures: number;
  /** A connection was open: from then on the feed never gives up. */
  begun: boolean;
}

/**
 * Gives the events one by one. The first connection is tried as often as any call. Once one was open, lost ones are
 * opened again until the signal aborts or the service refuses for good.
 */
export async function* followEvents(
  connection: Connection,
  options: FollowOptions = {},
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const { after = null, signal } = options;
  const feed: Feed = { connection, options, place: after, wait: FIRST_WAIT, failures: 0, begun: false };
  while (!isAborted(signal)) {
    let lost: SdkError | null = null;
    try {
      yield* oneConnection(feed);
    } catch (error) {
      if (isAborted(signal)) return;
      if (!feed.begun || !(error instanceof SdkError) || !error.retryable) throw error;
      lost = error;
    }
    if (isAborted(signal)) return;
    await waitForNext(feed, lost);
  }
}

async function* oneConnection(feed: Feed): AsyncGenerator<ReceivedEvent, void, undefined> {
  const { connection, options, place, begun } = feed;
  const query = place === null ? {} : { after: place };
  const callOptions: CallOptions = { signal: options.signal, ...(begun ? { retries: 0 } : {}) };
  feed.failures += 1;
  const answer = await callOn(connection, eventsGroup.stream, { query }, callOptions);
  feed.begun = true;
  for await (const block of blocksOf(answer)) {
    feed.failures = 0;
    feed.wait = block.retry ?? feed.wait;
    const event = takeBlock(feed, block);
    if (event !== null) yield event;
    // Aborted while the reader was at work: it does not want what came before the abort.
    if (isAborted(options.signal)) return;
  }
}

/** The event of a block, unless it was given out before; null if there is none. */
function takeBlock(feed: Feed, { id, data }: SseBlock): ReceivedEvent | null {
  if (data === null) {
    // A place without an event: where this connection begins.
    if (id !== null) feed.place = parsePlace(id);
    return null;
  }
  const event = parseEvent(data);
  if (event === null) throw broken("an event that is none");
  const { sequence } = event.data;
  if (feed.place !== null && sequence <= feed.place) return null;
  feed.place = sequence;
  return event;
}

function parsePlace(id: string): number {
  const place = /^\d{1,16}$/.test(id) ? Number(id) : NaN;
  if (!Number.isSafeInteger(place)) throw broken("an id that is no sequence number");
  return place;
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

/** Longer with every connection that brought nothing, at random within its upper half, so that readers do not return in step. */
async function waitForNext(feed: Feed, lost: SdkError | null): Promise<void> {
  const { connection, options, failures } = feed;
  const { clock, retry } = connection;
  const longest = Math.min(LONGEST_WAIT, feed.wait * 2 ** Math.max(0, failures - 1));
  const asked = retryDelay(retry, 1, lost, () => 0);
  const waitMs = Math.round(Math.max(asked, longest * (0.5 + clock.random() / 2)));
  options.onReconnect?.(lost, waitMs);
  await pause(clock, waitMs, options.signal).catch((error: unknown) => {
    if (!isAborted(options.signal)) throw error;
  });
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function broken(issue: string): ContractError {
  return new ContractError("response", eventsGroup.stream.id, [`body: ${issue}`]);
}
