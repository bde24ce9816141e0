/** HTTP servers of tests, on loopback and on a port of their own. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificate } from "./certificates.ts";

export interface LoopbackServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, or https with a certificate. */
  readonly baseUrl: string;
  /** How many connections there were. */
  connections(): number;
}

/** A request that `handle` rejects loses its connection. Idle connections are kept for so long, in milliseconds; 0: without end. */
export async function listenOnLoopback(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  keepAliveTimeout = 5_000,
  certificate: Certificate | null = null,
): Promise<LoopbackServer> {
  let connections = 0;
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const answered = async () => handle(request, response);
    answered().catch(() => response.destroy());
  };
  const server = (
    certificate === null
      ? createServer({ keepAliveTimeout }, answer)
      : createSecureServer({ keepAliveTimeout, ...certificate }, answer)
  )
    .on("connection", () => (connections += 1))
    .listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http${certificate === null ? "" : "s"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
