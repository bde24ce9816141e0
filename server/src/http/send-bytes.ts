/** Response bodies of raw bytes, written straight to the connection. */
import type { ServerResponse } from "node:http";
import type { OutgoingBytes } from "../handler.ts";
import { RECHECK_BYTES } from "./byte-bodies.ts";

export interface SendOptions {
  /** Sends the head: once the first chunk is there, or it is certain that there is none. */
  readonly start: () => void;
  readonly onBytes: (count: number) => void;
  /** Rejects when the reader's credential has ended; the connection is then cut (decisions §4). */
  readonly recheck: () => Promise<void>;
  /** A reader that takes no byte for this long is cut: it holds buffers that others wait for (CWE-400). Milliseconds. */
  readonly idle: number;
}

/**
 * Writes all chunks and ends the response. One write is in flight while the next chunk is read. It never asks for a
 * chunk before the last-but-one has left for the kernel: drivers reuse their buffers (ports/blob-store.ts). A source
 * that fails, or ends before the declared length, destroys the connection: a short body must not look whole. One that
 * fails before its first chunk leaves it as it is, for another answer. Resolves true when everything was sent.
 */
export async function sendBytes(raw: ServerResponse, source: OutgoingBytes, options: SendOptions): Promise<boolean> {
  let sent = 0;
  let sinceCheck = 0;
  let hasBegun = false;
  let pending: Promise<void> = Promise.resolve();
  const start = (): void => {
    hasBegun = true;
    options.start();
    // Node counts bytes that left for the kernel as activity, also within one large write. Nothing to send: our own wait.
    raw.setTimeout(options.idle, () => {
      if (raw.writableLength > 0) raw.destroy();
    });
  };
  try {
    for await (const chunk of source) {
      if (!hasBegun) start();
      await pending;
      if (raw.destroyed) return false;
      pending = write(raw, chunk);
      sent += chunk.byteLength;
      sinceCheck += chunk.byteLength;
      options.onBytes(chunk.byteLength);
      if (sinceCheck >= RECHECK_BYTES) {
        sinceCheck = 0;
        await options.recheck();
      }
    }
    if (!hasBegun) start();
    await pending;
    const declared = raw.getHeader("content-length");
    if (declared !== undefined && Number(declared) !== sent) throw new Error("the content ended before its length");
    raw.end();
    return !raw.destroyed;
  } catch (error) {
    pending.catch(ignore);
    if (hasBegun) raw.destroy();
    throw error;
  }
}

/** Resolves when the connection has taken the bytes, or is gone. */
function write(raw: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      raw.off("close", finish);
      raw.off("drain", onDrain);
      resolve();
    };
    let flushed = false;
    let drained = false;
    const onDrain = (): void => {
      drained = true;
      if (flushed) finish();
    };
    raw.on("close", finish);
    const accepted = raw.write(chunk, () => {
      flushed = true;
      if (accepted || drained) finish();
    });
    if (!accepted) raw.on("drain", onDrain);
  });
}

function ignore(): void {}
