/** HTTP servers of tests, on loopback and on a port of their own. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface LoopbackServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly baseUrl: string;
  /** How many connections there were. */
  connections(): number;
}

/** A request that `handle` rejects loses its connection. Idle connections are kept for so long, in milliseconds; 0: without end. */
export async function listenOnLoopback(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  keepAliveTimeout = 5_000,
): Promise<LoopbackServer> {
  let connections = 0;
  const server = createServer({ keepAliveTimeout }, (request, response) => {
    const answered = async () => handle(request, response);
    answered().catch(() => response.destroy());
  })
    .on("connection", () => (connections += 1))
    .listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
