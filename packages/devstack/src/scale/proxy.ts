/** The small proxy in front of several server processes: each request goes to the next of them, and bytes go through as they come. */
import httpProxy from "@fastify/http-proxy";
import { fastify } from "fastify";

export interface Proxy extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly baseUrl: string;
}

/** @throws Error `EADDRINUSE` when the port is in use; 0 takes any. */
export async function openProxy(targets: readonly string[], port: number): Promise<Proxy> {
  const app = fastify({ bodyLimit: Number.MAX_SAFE_INTEGER, forceCloseConnections: true });
  let turn = 0;
  await app.register(httpProxy, {
    upstream: "",
    replyOptions: { getUpstream: () => targets[(turn += 1) % targets.length] ?? "" },
    // Feeds are silent for long, and large files take their time.
    undici: { bodyTimeout: 0, headersTimeout: 0, connections: 256 },
  });
  await app.listen({ host: "127.0.0.1", port });
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new TypeError("a TCP server has a port");
  return { baseUrl: `http://127.0.0.1:${String(address.port)}`, [Symbol.asyncDispose]: () => app.close() };
}
