/**
 * Many keys over Streamable HTTP, in both protocol eras. Each request passes, in this order: Host and Origin, path, key,
 * limits, protocol. Nothing of a request is read before its Host and Origin are judged.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { isKeyText, KEY_PREFIX, KEY_REFUSALS } from "@coffer/contract";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  type McpHttpHandler,
  type McpServer,
  type ServerNotifier,
} from "@modelcontextprotocol/server";
import { createConnections } from "./legacy-connections.ts";
import { bearerIn, redacted, refusal, resourceMetadata, unauthorized } from "./http-responses.ts";
import type { KeyHolder, Keys } from "./key-holders.ts";
import type { HttpLaunch } from "./launch.ts";

export interface HttpShell {
  /** The address that clients are given. */
  readonly url: string;
  close(): Promise<void>;
}

export interface HttpShellOptions {
  readonly http: HttpLaunch;
  readonly keys: Keys;
  /**
   * A server for one connection, or for one request of the 2026 era. `notify` reaches the clients of the 2026 era that
   * listen with this key.
   */
  readonly serverFor: (holder: KeyHolder, notify: () => ServerNotifier) => McpServer;
  readonly log: (line: string) => void;
}

const PATH = "/mcp";
const METADATA = "/.well-known/oauth-protected-resource";
/** The largest text that a tool takes is 64 KiB. */
const MOST_BODY_BYTES = 1 << 20;
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const MOST_SOCKETS = 2_000;

/** Listens; rejects when the address is taken. */
export async function serveHttp(options: HttpShellOptions): Promise<HttpShell> {
  const { http, log } = options;
  const server = createServer({ headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS });
  server.maxConnections = MOST_SOCKETS;
  await listen(server, http);
  const { port } = server.address() as AddressInfo;
  const host = http.host.includes(":") ? `[${http.host}]` : http.host;
  const url = http.publicUrl ?? `http://${host}:${String(port)}${PATH}`;
  const shell = createShell(options, url);
  const onerror = (error: Error): void => {
    log(`http: ${error.message}`);
  };
  const handle = toNodeHandler(shell, { onerror, maxRequestBodySize: MOST_BODY_BYTES });
  server.on("request", (request, response) => {
    const { method = "GET", url: path = "/", headers } = request;
    void handle(Object.assign(request, { method, url: path, headers }), response);
  });
  return {
    url,
    close: async () => {
      await shell.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listen(server: Server, { host, port }: HttpLaunch): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

interface Shell {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
}

function createShell({ http, keys, serverFor, log }: HttpShellOptions, url: string): Shell {
  const modern = createModern(serverFor, log);
  const connections = createConnections((holder) => serverFor(holder, () => modern.of(holder).notify));
  const metadataUrl = new URL(`${METADATA}${new URL(url).pathname}`, url).href;
  const hostnames = [...localhostAllowedHostnames(), new URL(url).hostname];
  const origins = [...localhostAllowedOrigins(), ...http.allowedOrigins.map((origin) => new URL(origin).hostname)];

  const answer = async (request: Request): Promise<Response> => {
    const misdirected = hostHeaderValidationResponse(request, hostnames) ?? originValidationResponse(request, origins);
    if (misdirected !== undefined) return misdirected;
    const { pathname } = new URL(request.url);
    if (pathname === METADATA || pathname === METADATA + PATH) return resourceMetadata(url);
    if (pathname !== PATH) return refusal(404, `The tools are at ${PATH}`);
    const key = bearerIn(request);
    if (key?.startsWith(`${KEY_PREFIX}_`) === true && !isKeyText(key))
      return unauthorized(metadataUrl, KEY_REFUSALS.mistyped, true);
    if (key === null || !isKeyText(key))
      return unauthorized(metadataUrl, "Send a Coffer API key: Authorization: Bearer cof_…", key !== null);
    const found = await keys.find(key);
    if (found.kind === "refused") return unauthorized(metadataUrl, found.sentence, true);
    if (found.kind === "full")
      return refusal(503, "This server serves as many keys as it can; wait", { "retry-after": "60" });
    if (found.kind === "unreachable") return refusal(503, "The Coffer service did not answer", { "retry-after": "5" });
    return await limited(request, found.holder);
  };

  const limited = async (request: Request, holder: KeyHolder): Promise<Response> => {
    // A stream that only listens waits for hours and costs nothing.
    const counts = request.method === "POST";
    const wait = counts ? holder.enter() : null;
    if (wait !== null) return refusal(429, "Too many calls of this key; wait", { "retry-after": String(wait) });
    holder.requests += 1;
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      holder.requests -= 1;
      if (counts) holder.leave();
    };
    try {
      const isLegacy = await isLegacyRequest(request);
      const answered = isLegacy ? await connections.handle(request, holder) : await modern.of(holder).fetch(request);
      return whenRead(
        redacted(answered, (text) => holder.redaction.redact(text)),
        leave,
      );
    } catch (error) {
      leave();
      throw error;
    }
  };

  return {
    fetch: (request) =>
      answer(request).catch((error: unknown) => {
        log(`http: ${error instanceof Error ? (error.stack ?? error.message) : "unknown"}`);
        return refusal(500, "The server failed in an unforeseen way; its log has the details");
      }),
    close: async () => {
      await connections.close();
      await modern.close();
    },
  };
}

/** The handlers of the 2026 revision: one for each key. */
function createModern(serverFor: HttpShellOptions["serverFor"], log: HttpShellOptions["log"]) {
  const handlers = new WeakMap<KeyHolder, McpHttpHandler>();
  const open = new Set<WeakRef<McpHttpHandler>>();
  const onerror = (error: Error): void => {
    log(`protocol: ${error.message}`);
  };
  return {
    of: (holder: KeyHolder): McpHttpHandler => {
      const known = handlers.get(holder);
      if (known !== undefined) return known;
      const made: McpHttpHandler = createMcpHandler(() => serverFor(holder, () => made.notify), {
        legacy: "reject",
        onerror,
      });
      handlers.set(holder, made);
      open.add(new WeakRef(made));
      return made;
    },
    close: async (): Promise<void> => {
      await Promise.all([...open].map(async (handler) => handler.deref()?.close()));
    },
  };
}

/** The answer, which runs `done` once when its body ended or its reader went away. */
function whenRead(answer: Response, done: () => void): Response {
  if (answer.body === null) {
    done();
    return answer;
  }
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done: isEnd } = await reader.read();
        if (value !== undefined) controller.enqueue(value);
        if (!isEnd) return;
        done();
        controller.close();
      } catch (error) {
        done();
        controller.error(error);
      }
    },
    async cancel(reason) {
      done();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
}
