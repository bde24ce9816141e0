/** Contents of files over `node:http`. */
import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type { Socket, TcpNetConnectOpts } from "node:net";
import { once } from "../once.ts";
import { kyTransport, type Transport } from "../transports.ts";
import { AnswerBody, BLOCK_BYTES, giveBack, takers } from "./answer-body.ts";

const CONTENT = /\/api\/files\/[^/]+\/content$/;

/**
 * A transport for programs that move large files. Contents of files come over `node:http`, in large pieces and with less work than over
 * `fetch`; everything else goes as with `kyTransport()`. What replaces the dispatcher of `fetch` does not see contents; the proxy that
 * `NODE_USE_ENV_PROXY` asks for does.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl, credentials, transport: nodeTransport() });
 * ```
 */
export function nodeTransport(): Transport {
  const others = kyTransport();
  const send = (request: Request): Promise<Response> =>
    (request.method === "GET" && CONTENT.test(new URL(request.url).pathname) ? receive : others)(request);
  return Object.assign(send, { free: giveBack });
}

/** What a page may be sent to instead (Fetch §2.2.3). */
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

async function receive(request: Request): Promise<Response> {
  const { headers, method, signal, url } = request;
  const options = { method, signal, headers: Object.fromEntries(headers) };
  const sending = url.startsWith("https:")
    ? (await import("node:https")).request(url, options)
    : (await import("node:http")).request(url, { ...options, agent: await readers() });
  return await new Promise((resolve, reject) => {
    sending.on("error", reject);
    sending.on("response", (answer) => {
      if (REDIRECTS.has(answer.statusCode)) sending.destroy(new Error("unexpected redirect"));
      else resolve(responseOf(answer, sending));
    });
    sending.end();
  });
}

function responseOf(answer: IncomingMessage, sending: ClientRequest): Response {
  const headers = new Headers();
  const { rawHeaders, statusCode: status = 0 } = answer;
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const body = new AnswerBody(answer, sending).stream();
  // A response of these has no body (Fetch §2.2.3).
  return new Response(status === 204 || status === 205 || status === 304 ? null : body, { status, headers });
}

/** As long as Node keeps its own. */
const IDLE_MS = 5_000;

/**
 * Connections that read into one memory, and bring long bodies past the parser of Node. Reading and parsing give each piece memory of its
 * own otherwise, outside of the heap, and V8 collects garbage for it all the time. Node's own connections where a proxy is between.
 */
const readers = once(async (): Promise<Agent> => {
  const [{ Agent, globalAgent }, { connect }] = await Promise.all([import("node:http"), import("node:net")]);
  const { options }: { readonly options?: { readonly proxyEnv?: unknown } } = globalAgent as object;
  if (options?.proxyEnv !== undefined) return globalAgent;
  // Whatever connection brings something, it is taken before the next one does.
  const room = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  class Reading extends Agent {
    override createConnection(given: TcpNetConnectOpts): Socket {
      const callback = (count: number): boolean => {
        const bytes = room.subarray(0, count);
        const take = takers.get(socket) ?? null;
        if (take !== null) return take(bytes);
        socket.emit("data", Buffer.from(bytes));
        return true;
      };
      const socket = connect({ ...given, onread: { buffer: room, callback } });
      takers.set(socket, null);
      return socket;
    }
  }
  return new Reading({ keepAlive: true, timeout: IDLE_MS });
});
