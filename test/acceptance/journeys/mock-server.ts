/** The SDK's MSW handlers behind a port of this machine, so that whatever judges a server by its URL can judge them. */
import { createFake } from "@coffer/sdk/testing";
import { handlers } from "@coffer/sdk/testing/msw";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { getResponse } from "msw";

export interface MockServer extends AsyncDisposable {
  readonly baseUrl: string;
}

export async function startMockServer(): Promise<MockServer> {
  const mocked = handlers(createFake());
  const server = createServer((incoming, answer) => {
    respond(mocked, incoming, answer).catch(() => answer.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function respond(
  mocked: ReturnType<typeof handlers>,
  incoming: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const response = await getResponse(mocked, await readRequest(incoming));
  if (response === undefined) throw new Error("no handler answered");
  answer.writeHead(response.status, Object.fromEntries(response.headers));
  // As it comes: an event feed never ends by itself, and a reader who leaves ends it.
  answer.flushHeaders();
  const body = response.body === null ? [] : Readable.fromWeb(response.body as NodeReadableStream<Uint8Array>);
  await pipeline(body, answer);
}

async function readRequest(incoming: IncomingMessage): Promise<Request> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  const body = Buffer.concat(chunks);
  const method = incoming.method ?? "GET";
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const url = `http://${incoming.headers.host ?? "localhost"}${incoming.url ?? "/"}`;
  return new Request(url, { method, headers, ...(body.length === 0 ? {} : { body }) });
}
