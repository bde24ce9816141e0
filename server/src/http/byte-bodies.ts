/** Request bodies of raw bytes: a pull stream over the socket that counts, notices the end, silence and revocation. */
import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { IncomingBytes } from "../handler.ts";
import { ServiceError } from "../service-error.ts";

/** Bytes held at most while the reader is slower than the sender. */
const HIGH_WATER = 512 * 1024;

/** A transfer is checked again after this many bytes, and by time as well (decisions §4, "in-flight on revoke"). */
export const RECHECK_BYTES = 64 * 1024 * 1024;

export interface ByteBodyOptions {
  /** Silence after which the body is given up, in milliseconds. */
  readonly idle: number;
  readonly onBytes: (count: number) => void;
  /** Rejects when the sender's credential has ended. */
  readonly recheck: () => Promise<void>;
}

/** A body that can also be ended from outside: the reader's next pull rejects with `reason`. */
export interface OpenBody extends IncomingBytes {
  readonly abort: (reason: ServiceError) => void;
}

/**
 * The stream can be read once. It rejects with `body_truncated` when the connection ends before the declared length,
 * and with `request_timeout` when the sender falls silent. When the reader stops early it ends the body's reading,
 * never the connection: the answer still has to go out.
 */
export function openByteBody(raw: IncomingMessage, options: ByteBodyOptions): OpenBody {
  const reader = new BodyReader(raw, options);
  const length = raw.headers["content-length"];
  return {
    stream: reader,
    length: length === undefined ? null : Number(length),
    contentType: raw.headers["content-type"] ?? null,
    abort: (reason) => reader.fail(reason),
  };
}

interface Waiter {
  readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void;
  readonly reject: (reason: ServiceError) => void;
}

/** Owns the listeners on the request and the idle timer. */
class BodyReader implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #raw: IncomingMessage;
  readonly #options: ByteBodyOptions;
  readonly #queue: Buffer[] = [];
  /** Chunks are this request's alone: an in-process caller keeps its own memory. */
  readonly #owned: boolean;
  /** What the reader is working on. */
  #lent: Buffer | null = null;
  #queued = 0;
  #sinceCheck = 0;
  #waiter: Waiter | null = null;
  #failure: ServiceError | null = null;
  #ended = false;
  #timer: NodeJS.Timeout | null = null;
  #attached = false;

  constructor(raw: IncomingMessage, options: ByteBodyOptions) {
    this.#raw = raw;
    this.#options = options;
    this.#owned = raw.socket instanceof Socket;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#reclaim();
    if (!this.#attached) this.#attach();
    if (this.#sinceCheck >= RECHECK_BYTES) {
      this.#sinceCheck = 0;
      await this.#options.recheck();
    }
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      this.#queued -= chunk.length;
      this.#lent = chunk;
      if (this.#queued < HIGH_WATER && this.#raw.isPaused()) this.#raw.resume();
      return { done: false, value: chunk };
    }
    if (this.#failure !== null) throw this.#failure;
    if (this.#ended) return { done: true, value: undefined };
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      this.#timer?.refresh();
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#detach();
    this.#ended = true;
    this.#queue.length = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  fail(reason: ServiceError): void {
    if (this.#ended || this.#failure !== null) return;
    this.#failure = reason;
    this.#queue.length = 0;
    this.#detach();
    this.#waiter?.reject(reason);
    this.#waiter = null;
  }

  /**
   * Frees the reader's last chunk. With the garbage collector, an upload's chunks start a collection of the whole heap
   * every few dozen megabytes: a third of its processor time (measured). Only memory that nothing else shares.
   */
  #reclaim(): void {
    const chunk = this.#lent;
    this.#lent = null;
    if (!this.#owned || chunk === null) return;
    const { buffer } = chunk;
    if (buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength) buffer.transfer(0);
  }

  #attach(): void {
    this.#attached = true;
    if (this.#failure !== null) return;
    if (this.#raw.destroyed && !this.#raw.readableEnded) return this.fail(new ServiceError("body_truncated"));
    this.#timer = setTimeout(this.#onIdle, this.#options.idle);
    this.#raw.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose).on("error", this.#onClose);
  }

  #detach(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#raw.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    if (this.#attached) this.#raw.pause();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#options.onBytes(chunk.length);
    this.#sinceCheck += chunk.length;
    this.#timer?.refresh();
    const waiter = this.#waiter;
    if (waiter !== null) {
      this.#waiter = null;
      this.#lent = chunk;
      waiter.resolve({ done: false, value: chunk });
      return;
    }
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    if (this.#queued >= HIGH_WATER) this.#raw.pause();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#detach();
    this.#waiter?.resolve({ done: true, value: undefined });
    this.#waiter = null;
  };

  readonly #onClose = (): void => {
    if (!this.#ended) this.fail(new ServiceError("body_truncated"));
  };

  /** Only the sender's silence counts: while the reader is busy with queued bytes the socket may be paused. */
  readonly #onIdle = (): void => {
    if (this.#waiter === null) this.#timer?.refresh();
    else this.fail(new ServiceError("request_timeout"));
  };
}
