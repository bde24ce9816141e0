/** One process, one client on stdin and stdout. Stdout carries the protocol and nothing else. */
import { Console } from "node:console";
import { Writable, type Readable } from "node:stream";
import type { Redaction } from "@coffer/tasks";
import type { McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";

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
  const transport = new StdioServerTransport(streams.input, redactingOutput(streams.output, redaction));
  serveStdio(factory, {
    transport,
    onerror: (error) => {
      events.log(`protocol: ${error.message}`);
    },
  });
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
