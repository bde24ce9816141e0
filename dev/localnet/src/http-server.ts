/** The localnet over HTTP, on loopback only: node's server around a `fetch`-like function. */
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

export type Handle = (request: Request) => Promise<Response>;

export interface HttpServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
/** Clients compute for seconds between requests; a connection that is closed meanwhile fails their next one. */
const KEEP_ALIVE_MILLISECONDS = 120_000;
const LOOPBACK_HOSTS = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/** Port 0: any free one. */
export async function listen(handle: Handle, port: number): Promise<HttpServer> {
  const server = createServer((incoming, outgoing) => void serve(handle, incoming, outgoing));
  server.keepAliveTimeout = KEEP_ALIVE_MILLISECONDS;
  server.listen(port, LOOPBACK);
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;
  return { url: `http://${LOOPBACK}:${bound}`, close: () => closeServer(server) };
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

async function serve(handle: Handle, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  try {
    if (!isOfThisMachine(incoming.headers)) {
      outgoing.writeHead(403).end("This is a development network: it answers this machine and its own pages only.\n");
      return;
    }
    const response =
      incoming.method === "OPTIONS" ? new Response(null, { status: 204 }) : await handle(toRequest(incoming));
    outgoing.writeHead(response.status, headersOf(response, incoming));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  } catch {
    // A server that is down resets connections, and so does one whose client is gone.
    incoming.socket.destroy();
  }
}

/**
 * Requests that a page of another site may not make, by a name that was pointed at this machine (DNS rebinding) or
 * across origins. Such a page could read who owns the vaults, and take everything that the faucet has.
 */
function isOfThisMachine({ host = "", origin }: IncomingHttpHeaders): boolean {
  if (!LOOPBACK_HOSTS.test(host)) return false;
  return origin === undefined || LOOPBACK_HOSTS.test(origin.replace(/^https?:\/\//, ""));
}

function toRequest(incoming: IncomingMessage): Request {
  const { method = "GET", url = "/", headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const list = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
  );
  const body = hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" } : {};
  return new Request(new URL(url, `http://${LOOPBACK}`), { method, headers: list, ...body });
}

/** Any page of this machine may talk to a development network. */
function headersOf(response: Response, incoming: IncomingMessage): Record<string, string> {
  return {
    ...Object.fromEntries(response.headers),
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST, OPTIONS",
    "access-control-allow-headers": incoming.headers["access-control-request-headers"] ?? "*",
    "access-control-expose-headers": "*",
    "access-control-max-age": "600",
  };
}
