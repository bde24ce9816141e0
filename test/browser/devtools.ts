/**
 * The DevTools protocol over the pipe that `--remote-debugging-pipe` opens: JSON between zero bytes, on file descriptors 3 and 4 of the
 * browser (chromedevtools.github.io/devtools-protocol). A pipe is no connection: what a page tells its test this way is not on the wire.
 */
import type { Readable, Writable } from "node:stream";

export interface DevtoolsEvent {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly sessionId?: string;
}

export interface Devtools {
  /** Rejects with the browser's message, or when the browser has gone. */
  call(method: string, params?: object, sessionId?: string): Promise<Readonly<Record<string, unknown>>>;
  onEvent(listener: (event: DevtoolsEvent) => void): void;
}

interface Answer {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

interface Waiting {
  readonly resolve: (result: Readonly<Record<string, unknown>>) => void;
  readonly reject: (error: Error) => void;
}

export function openDevtools(toBrowser: Writable, fromBrowser: Readable): Devtools {
  const waiting = new Map<number, Waiting>();
  const listeners: ((event: DevtoolsEvent) => void)[] = [];
  let next = 0;
  let gone: Error | null = null;
  const take = (text: string): void => {
    const message = JSON.parse(text) as Answer & DevtoolsEvent;
    if (message.id === undefined) {
      for (const listener of listeners) listener(message);
      return;
    }
    const { resolve, reject } = waiting.get(message.id) ?? {};
    waiting.delete(message.id);
    if (message.error === undefined) resolve?.(message.result ?? {});
    else reject?.(new Error(message.error.message));
  };
  splitAtZeros(fromBrowser, take);
  fromBrowser.once("close", () => {
    gone = new Error("the browser has gone");
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  });
  // Writing to a browser that has gone: whoever waits is told by the end of what it says.
  toBrowser.on("error", () => undefined);
  return {
    call: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        if (gone !== null) {
          reject(gone);
          return;
        }
        next += 1;
        waiting.set(next, { resolve, reject });
        toBrowser.write(`${JSON.stringify({ id: next, method, params, sessionId })}\0`);
      }),
    onEvent: (listener) => void listeners.push(listener),
  };
}

function splitAtZeros(stream: Readable, take: (text: string) => void): void {
  let pieces: string[] = [];
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    const [first = "", ...rest] = chunk.split("\0");
    pieces.push(first);
    for (const start of rest) {
      take(pieces.join(""));
      pieces = [start];
    }
  });
}
