/** The SDK's MSW handlers behind a port of this machine, so that whatever judges a server by its URL can judge them. */
import type { Fake } from "@coffer/sdk/testing";
import { handlers } from "@coffer/sdk/testing/msw";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { getResponse } from "msw";
import { listenOnLoopback, type LoopbackServer } from "../../kit/loopback.ts";

export function startMockServer(fake: Fake): Promise<LoopbackServer> {
  const mocked = handlers(fake);
  return listenOnLoopback((incoming, answer) => respond(mocked, incoming, answer));
}

async function respond(
  mocked: ReturnType<typeof handlers>,
  incoming: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const response = await getResponse(mocked, await readRequest(incoming));
  if (response === undefined) throw new Error("no handler answered");
  answer.writeHead(response.status, Object.fromEntries(response.headers));
  const body = response.body === null ? [] : Readable.fromWeb(response.body as NodeReadableStream<Uint8Array>);
  await pipeline(body, answer);
}

async function readRequest(incoming: IncomingMessage): Promise<Request> {
  const body = await buffer(incoming);
  const method = incoming.method ?? "GET";
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const url = `http://${incoming.headers.host ?? "localhost"}${incoming.url ?? "/"}`;
  return new Request(url, { method, headers, ...(body.length === 0 ? {} : { body }) });
}
