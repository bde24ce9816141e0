import type { IncomingMessage } from "node:http";
import { announcesBody } from "./json-body.ts";

const MAX_DISCARDED = 64 * 1024 * 1024;
const MAX_WAIT = 5_000;

/**
 * After an early answer the rest of the request's body is read and dropped, within bounds, and then the connection is
 * cut. Closing at once would reset the connection and could take the answer along before the sender has read it
 * (RFC 9112 §9.6).
 */
export function discardUnreadBody(raw: IncomingMessage): void {
  if (raw.complete || raw.destroyed || !announcesBody(raw)) return;
  let left = MAX_DISCARDED;
  const cut = (): void => {
    raw.destroy();
  };
  const timer = setTimeout(cut, MAX_WAIT).unref();
  raw.on("error", ignore);
  raw.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  raw.once("close", () => clearTimeout(timer));
  raw.once("end", () => clearTimeout(timer));
  raw.resume();
}

/** The sender going away in the middle is what this waits for. */
function ignore(): void {}
