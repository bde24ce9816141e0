/** One request and its answer on one connection. */
import type { Dispatcher } from "undici";
import type { WebhookFailure } from "../../ports/webhook-sender.ts";
import { MAX_BODY } from "./answers.ts";
import type { Connection } from "./connections.ts";
import { exchangeFailureOf } from "./failures.ts";

export interface OutgoingRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How an exchange ended. */
export interface Ending {
  /** 0: no answer came. */
  readonly status: number;
  readonly retryAfter: string | string[] | undefined;
  /** At most `MAX_BODY` bytes. */
  readonly body: Uint8Array;
  /** The body ended by itself. */
  readonly whole: boolean;
  /** The failure of the exchange; null when the status is there and the body was read as far as it is kept. */
  readonly failure: WebhookFailure | null;
  /**
   * The connection had carried an answer before, and was closed without a byte of one to this request. The receiver
   * closed it while it was idle, and has not seen the request.
   */
  readonly stale: boolean;
}

/**
 * Breaks an attempt off, for one listener at a time: an `AbortController` for each attempt, with its events, was measured at
 * more than the signature.
 */
export class Stop {
  #isStopped = false;
  #listener: (() => void) | null = null;

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** null: nobody waits for the result any more. */
  listen(listener: (() => void) | null): void {
    this.#listener = listener;
  }

  stop(): void {
    this.#isStopped = true;
    this.#listener?.();
  }
}

/** An ending before any request. */
export function endedWith(failure: WebhookFailure): Ending {
  return { status: 0, retryAfter: undefined, body: new Uint8Array(0), whole: false, failure, stale: false };
}

/**
 * Sends, and reads the answer's first 16 KiB. Never rejects. The connection can be used again only when the answer was whole;
 * else it is closed, at the byte where that became clear.
 */
export function exchange(connection: Connection, outgoing: OutgoingRequest, stop: Stop): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  const handler = new AnswerReader(connection, (ending) => {
    stop.listen(null);
    if (!ending.whole) connection.destroy();
    resolve(ending);
  });
  if (stop.isStopped) handler.settle("timeout");
  else {
    stop.listen(() => handler.settle("timeout"));
    connection.dispatch({ ...outgoing, method: "POST" }, handler);
  }
  return promise;
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #connection: Connection;
  readonly #end: (ending: Ending) => void;
  readonly #parts: Uint8Array[] = [];
  #size = 0;
  #status = 0;
  #retryAfter: string | string[] | undefined;
  #reused = false;
  #answered = false;
  #ended = false;

  constructor(connection: Connection, end: (ending: Ending) => void) {
    this.#connection = connection;
    this.#end = end;
  }

  /** undici is about to write: only now it is certain on which socket. */
  onRequestStart(): void {
    this.#reused = this.#connection.hasAnswered;
  }

  onResponseStarted(): void {
    this.#answered = true;
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    // RFC 9110 §15.2: any number of interim answers may come before the one that counts.
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = headers["retry-after"];
  }

  onResponseData(_controller: unknown, chunk: Uint8Array): void {
    if (this.#ended) return;
    const part = chunk.subarray(0, MAX_BODY - this.#size);
    this.#parts.push(part);
    this.#size += part.length;
    if (part.length < chunk.length) this.settle(null);
  }

  onResponseEnd(): void {
    this.settle(null, true);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.settle(exchangeFailureOf(error));
  }

  settle(failure: WebhookFailure | null, whole = false): void {
    if (this.#ended) return;
    this.#ended = true;
    const stale = failure === "connection reset" && this.#reused && !this.#answered;
    const body = Buffer.concat(this.#parts);
    this.#end({ status: this.#status, retryAfter: this.#retryAfter, body, whole, failure, stale });
  }
}
