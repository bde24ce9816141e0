/** Where the server writes what happens: JSON lines, events and faults through pino, requests past it. */
import { writeSync } from "node:fs";
import { type Logger, pino } from "pino";
import type { LogLevel } from "../config.ts";
import { BlobStoreFaultError, BlobStoreFullError } from "../ports/blob-store.ts";
import { DatabaseFullError, DatabaseUnavailableError, OutdatedServerError } from "../ports/database.ts";
import { ServiceError } from "../service-error.ts";
import { redact } from "./redaction.ts";

/** Takes whole lines in UTF-8. The bytes are valid during the call only. */
export interface LineSink {
  write(lines: Uint8Array): void;
}

export interface Log {
  readonly events: Logger;
  /** Takes lines of ASCII. */
  readonly requests: { readonly enabled: boolean; write(line: string): void };
  /** Writes what is still collected. */
  flush(): void;
}

const STANDARD_ERROR = 2;
/** Lines are collected for this long, so that a busy server does not make a system call per request. Milliseconds. */
const COLLECT = 50;
const MAX_COLLECTED = 64 * 1024;

/** Lines to `sink`, by default standard error. */
export function openLog(level: LogLevel, sink: LineSink = standardError): Log {
  const lines = new CollectedLines(sink);
  const events = pino({ level, base: null }, lines);
  return {
    events,
    requests: {
      enabled: events.isLevelEnabled("info"),
      write: (line) => {
        lines.writeAscii(line);
      },
    },
    flush: () => {
      lines.flush();
    },
  };
}

/**
 * A defect or a fault: what happened, with everything that looks like a credential taken out. Written at once. A state of the storage has its
 * own line since it began: thousands of requests, and every job, may meet it.
 */
export function logFault(log: Log, error: unknown, fields: Readonly<Record<string, string | null>>): void {
  // The server ends because of it, and says so once (index.ts).
  if (error instanceof OutdatedServerError || isKnown(error instanceof ServiceError ? error.cause : error)) return;
  log.events.error({ event: "fault", ...fields, error: renderError(error) });
  log.flush();
}

function isKnown(error: unknown): boolean {
  if (error instanceof BlobStoreFullError || error instanceof DatabaseFullError) return true;
  return (error instanceof DatabaseUnavailableError || error instanceof BlobStoreFaultError) && error.known;
}

/** Owns the buffer and the timer. */
class CollectedLines {
  readonly #sink: LineSink;
  readonly #buffer = Buffer.allocUnsafe(MAX_COLLECTED);
  #used = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  write(line: string): void {
    const most = line.length * 3;
    if (this.#used + most > MAX_COLLECTED) this.flush();
    if (most > MAX_COLLECTED) return this.#sink.write(Buffer.from(line));
    this.#used += this.#buffer.write(line, this.#used);
    this.#wake();
  }

  /** For lines that hold nothing but ASCII. */
  writeAscii(line: string): void {
    if (this.#used + line.length > MAX_COLLECTED) this.flush();
    this.#used += this.#buffer.write(line, this.#used, "latin1");
    this.#wake();
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const bytes = this.#buffer.subarray(0, this.#used);
    this.#used = 0;
    if (bytes.length > 0) this.#sink.write(bytes);
  }

  #wake(): void {
    this.#timer ??= setTimeout(() => {
      this.flush();
    }, COLLECT).unref();
  }
}

const standardError: LineSink = {
  write(bytes) {
    let written = 0;
    // A pipe may be full for a moment (EAGAIN) or closed (EPIPE): the log must never stop the service.
    for (let attempt = 0; written < bytes.length && attempt < 100; attempt += 1) {
      try {
        written += writeSync(STANDARD_ERROR, bytes, written);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
      }
    }
  },
};

interface RenderedError {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  readonly cause?: RenderedError;
}

/** Everything that looks like a credential is taken out; with as many causes as `depth` says. */
export function renderError(error: unknown, depth = 3): RenderedError {
  if (!(error instanceof Error)) return { type: typeof error, message: redact(String(error)), stack: "" };
  const rendered = { type: error.name, message: redact(error.message), stack: redact(error.stack ?? "") };
  if (error.cause === undefined || depth === 0) return rendered;
  return { ...rendered, cause: renderError(error.cause, depth - 1) };
}
