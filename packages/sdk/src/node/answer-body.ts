/** The body of an answer in blocks of memory that are used again. */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Takes what a connection brings of a body, and answers whether it shall bring more. */
type Taker = (bytes: Uint8Array) => boolean;

/** Connections that can bring a body past the parser, each with the taker of the body that it brings. */
export const takers = new WeakMap<Socket, Taker | null>();

export const BLOCK_BYTES = 1024 * 1024;

/** Blocks that somebody is done with. As many as are in use stay: then the garbage collector has nothing to look for. */
const idle: Uint8Array[] = [];
const MOST_IDLE = 4;

/** For a piece that nobody uses any more. */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer.byteLength === BLOCK_BYTES && idle.length < MOST_IDLE) idle.push(new Uint8Array(buffer));
}

/** Whole blocks that wait for their reader before the connection is not read any more. */
const MOST_AHEAD = 2;
/** Bodies from this length on pass the parser by. The connection ends with them, because the parser does not see their end. */
const LONG = 4 * BLOCK_BYTES;

/** Null for a body that the parser has to read. */
function longBodyOf({ headers, socket, statusCode }: IncomingMessage): number | null {
  const length = Number(headers["content-length"]);
  const isPlain = headers["transfer-encoding"] === undefined && (statusCode === 200 || statusCode === 206);
  return isPlain && length >= LONG && takers.has(socket) ? length : null;
}

/** What a connection brings: whole blocks, or as much as there is. */
export class AnswerBody {
  readonly #answer: IncomingMessage;
  /** Bytes of a long body. null: the parser reads this one. */
  readonly #length: number | null;
  readonly #ready: Uint8Array[] = [];
  #filling: Uint8Array | null = null;
  #filled = 0;
  #total = 0;
  /** null: more may come. */
  #end: { readonly failure: Error | null } | null = null;
  #wake = (): void => undefined;

  constructor(answer: IncomingMessage, sending: ClientRequest) {
    this.#answer = answer;
    this.#length = longBodyOf(answer);
    if (this.#length !== null) takers.set(answer.socket, (bytes) => this.#takeRest(bytes));
    answer.on("readable", () => this.#takeParsed());
    answer.on("end", () => this.#finish(null));
    for (const source of [answer, sending]) source.on("error", (error) => this.#finish(error));
    answer.on("close", () => this.#finish(new Error("the answer broke off")));
  }

  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = await this.#next();
          if (piece === null) controller.close();
          else controller.enqueue(piece);
        },
        cancel: () => void this.#answer.destroy(),
      },
      { highWaterMark: 0 },
    );
  }

  async #next(): Promise<Uint8Array | null> {
    for (;;) {
      const piece = this.#shift();
      if (piece !== null) {
        this.#takeParsed();
        if (this.#length !== null && this.#end === null && !this.#isFull()) this.#answer.socket.resume();
        return piece;
      }
      if (this.#end !== null) {
        if (this.#end.failure !== null) throw this.#end.failure;
        if (this.#filling !== null) giveBack(this.#filling);
        return null;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** A piece that is no whole block may be kept, and has no more memory than it needs then. */
  #shift(): Uint8Array | null {
    const whole = this.#ready.shift();
    if (whole !== undefined || this.#filling === null || this.#filled === 0) return whole ?? null;
    const piece = new Uint8Array(this.#filling.subarray(0, this.#filled));
    this.#filled = 0;
    return piece;
  }

  #finish(failure: Error | null): void {
    this.#end ??= { failure };
    this.#wake();
  }

  /** Takes what the parser has read. It goes on with the connection when that is taken. */
  #takeParsed(): void {
    // The parser reads less than a block of a long body, and the rest must not come before it.
    while (this.#length !== null || !this.#isFull()) {
      const bytes = this.#answer.read() as Buffer | null;
      if (bytes === null) break;
      this.#add(bytes);
    }
    this.#wake();
  }

  #takeRest(bytes: Uint8Array): boolean {
    this.#takeParsed();
    this.#add(bytes.subarray(0, (this.#length ?? 0) - this.#total));
    if (this.#total === this.#length) {
      this.#finish(null);
      this.#answer.destroy();
    }
    this.#wake();
    return !this.#isFull();
  }

  #isFull(): boolean {
    return this.#ready.length >= MOST_AHEAD;
  }

  #add(bytes: Uint8Array): void {
    this.#total += bytes.length;
    for (let at = 0; at < bytes.length;) {
      this.#filling ??= idle.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
      const some = bytes.subarray(at, at + BLOCK_BYTES - this.#filled);
      this.#filling.set(some, this.#filled);
      this.#filled += some.length;
      at += some.length;
      if (this.#filled < BLOCK_BYTES) return;
      this.#ready.push(this.#filling);
      [this.#filling, this.#filled] = [null, 0];
    }
  }
}
