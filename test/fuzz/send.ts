/** Sends messages with Node's own client, which lets more through than fetch does. */
import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import type { Received } from "../conformance/judge.ts";
import type { Message } from "./message.ts";

/** A request that has no answer after this long counts as unanswered. The list of changes may wait 50 s for one. */
const PATIENCE_MS = 70_000;

export interface Sender extends Disposable {
  /** Rejects when no answer comes. */
  send(message: Message): Promise<Received>;
}

export function openSender(baseUrl: string): Sender {
  const { hostname, port } = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  return {
    send: (message) => exchange({ hostname, port, agent }, message),
    [Symbol.dispose]: () => {
      agent.destroy();
    },
  };
}

function exchange(to: { hostname: string; port: string; agent: Agent }, message: Message): Promise<Received> {
  return new Promise((resolve, reject) => {
    const length = ["content-length", String(message.body?.length ?? 0)];
    const headers = ["host", `${to.hostname}:${to.port}`, ...message.headers.flat(), ...length];
    const options = {
      ...to,
      method: message.method,
      path: message.target,
      headers,
      signal: AbortSignal.timeout(PATIENCE_MS),
    };
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
        resolve(leaveFeed(response));
        return;
      }
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: asHeaders(response.rawHeaders),
          body: new Uint8Array(Buffer.concat(chunks)),
        });
      });
    });
    sent.on("error", reject);
    sent.end(message.body ?? undefined);
  });
}

/** A feed has no end: its beginning is all there is to judge. */
async function leaveFeed(response: IncomingMessage): Promise<Received> {
  const [chunk] = response.readableEnded ? [] : ((await once(response, "data")) as [Buffer]);
  response.destroy();
  const body = new Uint8Array(chunk ?? []);
  return { status: response.statusCode ?? 0, headers: asHeaders(response.rawHeaders), body };
}

function asHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? "", raw[at + 1] ?? "");
  return headers;
}
