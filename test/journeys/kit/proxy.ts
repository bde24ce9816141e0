/** A proxy between a client and the server: counts what the client sends, and can damage what it gets back. */
import { once } from "node:events";
import { request as openRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { listenOnLoopback, type LoopbackServer } from "../../kit/loopback.ts";

export interface Proxy extends LoopbackServer {
  /** One entry a request, in the order in which they came. */
  readonly requests: readonly { readonly method: string; readonly path: string }[];
  /** Bytes of request bodies that came from the client. */
  bodyBytes(): number;
  /** From now on, the last byte of every content that passes is changed. */
  damageContents(): void;
}

export async function startProxy(target: string): Promise<Proxy> {
  const state = { bodyBytes: 0, damage: false, requests: [] as { method: string; path: string }[] };
  const server = await listenOnLoopback((incoming, answer) => {
    const path = incoming.url ?? "/";
    state.requests.push({ method: incoming.method ?? "GET", path });
    incoming.on("data", (chunk: Uint8Array) => (state.bodyBytes += chunk.length));
    const damage = state.damage && /\/content(\?|$)/.test(path);
    return forward(target, incoming, answer, damage);
  });
  return {
    ...server,
    requests: state.requests,
    bodyBytes: () => state.bodyBytes,
    damageContents: () => (state.damage = true),
  };
}

async function forward(
  target: string,
  incoming: IncomingMessage,
  answer: ServerResponse,
  damage: boolean,
): Promise<void> {
  const { host } = new URL(target);
  const onward = openRequest(new URL(incoming.url ?? "/", target), {
    method: incoming.method ?? "GET",
    headers: { ...incoming.headers, host },
  });
  const responded = once(onward, "response") as Promise<[IncomingMessage]>;
  const sent = pipeline(incoming, onward);
  const [response] = await responded;
  answer.writeHead(response.statusCode ?? 502, response.headers);
  const received = damage ? pipeline(response, lastByteChanged(), answer) : pipeline(response, answer);
  await Promise.all([sent, received]);
}

/** Holds one chunk back, so that it can change the very last byte. */
function lastByteChanged(): Transform {
  let held = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const ready = held;
      held = Buffer.from(chunk);
      done(null, ready);
    },
    flush(done) {
      const last = held.at(-1);
      if (last !== undefined) held[held.length - 1] = last ^ 1;
      done(null, held);
    },
  });
}
