/**
 * The small proxy in front of several server processes: each request goes to the next of them, and bytes go through as they come. A process
 * that takes no connection is left alone for a moment, and the client is asked to come again.
 */
import httpProxy from "@fastify/http-proxy";
import { fastify, type FastifyReply, type FastifyRequest } from "fastify";

export interface Proxy extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly baseUrl: string;
}

/** Milliseconds. */
const LEFT_ALONE = 250;

/** @throws Error `EADDRINUSE` when the port is in use; 0 takes any. */
export async function openProxy(targets: readonly string[], port: number): Promise<Proxy> {
  const app = fastify({ bodyLimit: Number.MAX_SAFE_INTEGER, forceCloseConnections: true });
  const down = new Map<string, number>();
  const asked = new WeakMap<object, string>();
  let turn = 0;
  const next = (): string => {
    const up = targets.filter((target) => (down.get(target) ?? 0) < performance.now());
    const some = up.length === 0 ? targets : up;
    return some[(turn += 1) % some.length] ?? "";
  };
  await app.register(httpProxy, {
    upstream: "",
    replyOptions: {
      getUpstream(request) {
        const target = next();
        asked.set(request, target);
        return target;
      },
      onError(reply) {
        const { request } = reply as FastifyReply & { readonly request: FastifyRequest };
        down.set(asked.get(request) ?? "", performance.now() + LEFT_ALONE);
        // Nobody reads what is left of the request's body any more, so a further request on the connection would never be heard.
        const answer = (reply as FastifyReply).code(503).headers({ "retry-after": "0", connection: "close" });
        void answer.send({ error: "No process answered" });
      },
    },
    // Feeds are silent for long, and large files take their time.
    undici: { bodyTimeout: 0, headersTimeout: 0, connections: 256 },
  });
  await app.listen({ host: "127.0.0.1", port });
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new TypeError("a TCP server has a port");
  return { baseUrl: `http://127.0.0.1:${String(address.port)}`, [Symbol.asyncDispose]: () => app.close() };
}
