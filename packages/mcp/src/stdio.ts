/** One process, one client on stdin and stdout. Stdout carries the protocol and nothing else. */
import { Console } from "node:console";
import { Writable, type Readable } from "node:stream";
import type { Redaction } from "@coffer/tasks";
import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  parseJSONRPCMessage,
  type JSONRPCMessage,
  type McpServer,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { inPlainWords, readLine, refuse, RPC_ERRORS, type ClientLine, type Refusal } from "./message-lines.ts";

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

export interface StdioEvents {
  readonly onHangUp: () => void;
  readonly log: (line: string) => void;
}

/**
 * Serves until the client hangs up: stdin ends, or stdout can no longer be written to. `onHangUp` runs at that moment,
 * before the protocol library aborts what is under way.
 * Every frame passes the redaction: one frame is one write, so no secret is split.
 */
export function serveStreams(
  factory: () => McpServer,
  streams: StdioStreams,
  redaction: Redaction,
  events: StdioEvents,
): void {
  for (const event of ["end", "close", "error"]) streams.input.once(event, events.onHangUp);
  for (const event of ["close", "error"]) streams.output.once(event, events.onHangUp);
  serveStdio(factory, {
    transport: new LineTransport({ ...streams, output: redactingOutput(streams.output, redaction) }),
    onerror: (error) => {
      events.log(`protocol: ${error.message}`);
    },
  });
}

/** A message may be as long as the library's own transport lets it be. The largest text that a tool takes is 64 KiB. */
const LONGEST_LINE = 10 * 1024 * 1024;

/** The library's own transport drops what is no message, and its client waits for ever (`ReadBuffer` of 2.4). */
class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly #streams: StdioStreams;
  /** The revision 2025-03-26, and no other, has batches. Its client asks for it by name, and does not always wait for the answer. */
  #acceptsBatches = false;
  #isClosed = false;
  /** The beginning of a line. null: it is too long, and the rest of it is passed over. */
  #line: Buffer[] | null = [];
  #length = 0;

  constructor(streams: StdioStreams) {
    this.#streams = streams;
  }

  readonly #onData = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#buffer(chunk.subarray(start, end));
      start = end + 1;
      const line = this.#line === null ? null : Buffer.concat(this.#line).toString("utf8");
      this.#line = [];
      this.#length = 0;
      if (line !== null && line.trim() !== "")
        for (const read of readLine(line, this.#acceptsBatches)) this.#deliver(read);
    }
    this.#buffer(chunk.subarray(start));
  };

  #buffer(chunk: Buffer): void {
    if (this.#line === null) return;
    this.#length += chunk.length;
    if (this.#length <= LONGEST_LINE) {
      this.#line.push(chunk);
      return;
    }
    this.#line = null;
    this.#answer(refuse(RPC_ERRORS.request, "The line is too long: a message has at most 10 MiB").answer);
  }

  #deliver(read: ClientLine): void {
    if (read.kind === "dropped") {
      this.onerror?.(new Error("An answer of the client has no usable id, so it was dropped"));
      return;
    }
    if (read.kind === "refused") {
      this.#answer(read.answer);
      return;
    }
    let message;
    try {
      message = parseJSONRPCMessage(read.message);
    } catch {
      const { id } = read.message;
      const isId = typeof id === "string" || typeof id === "number";
      this.#answer(
        refuse(RPC_ERRORS.params, "params are not of the form that the method takes", isId ? id : null).answer,
      );
      return;
    }
    if (isInitializeRequest(message)) this.#acceptsBatches = message.params.protocolVersion === "2025-03-26";
    this.onmessage?.(message);
  }

  #answer(answer: Refusal): void {
    this.#streams.output.write(`${JSON.stringify(answer)}\n`);
  }

  readonly #onEnd = (): void => {
    void this.close();
  };

  readonly #onError = (error: Error): void => {
    if (this.#isClosed) return;
    this.onerror?.(error);
    void this.close();
  };

  start(): Promise<void> {
    const { input, output } = this.#streams;
    input.on("data", this.#onData);
    for (const event of ["end", "close"]) input.on(event, this.#onEnd);
    for (const stream of [input, output]) stream.on("error", this.#onError);
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The client has hung up"));
    const plainMessage = isJSONRPCErrorResponse(message) ? inPlainWords(message) : message;
    return new Promise((resolve, reject) => {
      this.#streams.output.write(`${JSON.stringify(plainMessage)}\n`, (error) => {
        if (error == null) resolve();
        else reject(error);
      });
    });
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    const { input } = this.#streams;
    input.off("data", this.#onData);
    input.pause();
    this.#line = null;
    this.onclose?.();
    return Promise.resolve();
  }
}

function redactingOutput(output: Writable, redaction: Redaction): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      output.write(redaction.redact(String(chunk)), done);
    },
  });
}

/** Whatever calls `console.log` later, in whatever dependency, writes to stderr, and without secrets. */
export function keepStdoutForProtocol(redaction: Redaction): void {
  const stderr = redactingOutput(process.stderr, redaction);
  globalThis.console = new Console({ stdout: stderr, stderr });
}
