/** Where the server writes what happens: JSON lines, events and faults through pino, requests past it. */
import { writeSync } from "node:fs";
import { type Logger, pino } from "pino";
import type { LogLevel } from "../config.ts";
import { redact } from "./redaction.ts";

/** Takes whole lines. */
export interface LineSink {
  write(text: string): void;
}

export interface Log {
  readonly events: Logger;
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
    requests: { enabled: events.isLevelEnabled("info"), write: (line) => lines.write(line) },
    flush: () => lines.flush(),
  };
}

/** A defect or a fault: what happened, with everything that looks like a credential taken out. */
export function logFault(log: Log, error: unknown, fields: Readonly<Record<string, string | null>>): void {
  log.events.error({ event: "fault", ...fields, error: renderError(error, 3) });
}

/** Owns the timer. Whatever was collected is written before the next line after {@link MAX_COLLECTED} characters. */
class CollectedLines implements LineSink {
  readonly #sink: LineSink;
  #text = "";
  #timer: NodeJS.Timeout | null = null;

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  write(line: string): void {
    this.#text += line;
    if (this.#text.length >= MAX_COLLECTED) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), COLLECT).unref();
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const text = this.#text;
    this.#text = "";
    if (text !== "") this.#sink.write(text);
  }
}

const standardError: LineSink = {
  write(text) {
    const bytes = Buffer.from(text);
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

function renderError(error: unknown, depth: number): RenderedError {
  if (!(error instanceof Error)) return { type: typeof error, message: redact(String(error)), stack: "" };
  const rendered = { type: error.name, message: redact(error.message), stack: redact(error.stack ?? "") };
  if (error.cause === undefined || depth === 0) return rendered;
  return { ...rendered, cause: renderError(error.cause, depth - 1) };
}
