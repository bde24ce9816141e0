/** A request for a content over `node:http`, and its answer. */
import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import type { Socket, TcpNetConnectOpts } from "node:net";
import { AnswerBody, BLOCK_BYTES, takers } from "./answer-body.ts";

export interface Exchange {
  readonly answer: IncomingMessage;
  readonly sending: ClientRequest;
}

export interface Asked {
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** How long the head of an answer may take, in milliseconds. Default: as long as `signal` lets it. */
  readonly within?: number;
}

/** Resolves with the head of any answer. */
export async function exchange({ url, headers, signal, within }: Asked): Promise<Exchange> {
  const options = { method: "GET", signal, headers };
  const sending = String(url).startsWith("https:")
    ? (await import("node:https")).request(url, options)
    : (await import("node:http")).request(url, { ...options, agent: await readers() });
  return await new Promise((resolve, reject) => {
    const late = (): void => void sending.destroy(new Error("no answer in time"));
    const timer = within === undefined ? undefined : setTimeout(late, within);
    sending.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sending.on("response", (answer) => {
      clearTimeout(timer);
      resolve({ answer, sending });
    });
    sending.end();
  });
}

/** What a page may be sent to instead (Fetch §2.2.3). */
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

/** The answer for the SDK. Throws for a redirect: a credential must not travel to another origin. */
export function received({ answer, sending }: Exchange): Response {
  if (REDIRECTS.has(answer.statusCode)) {
    sending.destroy();
    throw new Error("unexpected redirect");
  }
  return responseOf({ answer, sending }, headersOf(answer));
}

export function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}

export function responseOf({ answer, sending }: Exchange, headers: Headers): Response {
  const { statusCode: status = 0 } = answer;
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
async function openReaders(): Promise<Agent> {
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
}

let opened: Promise<Agent> | null = null;
const readers = (): Promise<Agent> => (opened ??= openReaders());
