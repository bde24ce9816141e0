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
import { LegacyConnections } from "./legacy-connections.ts";
import { bearerIn, redactedResponse, refusal, resourceMetadata, unauthorized } from "./http-responses.ts";
import type { KeyHolder, KeyHolders } from "./key-holders.ts";
import type { HttpLaunch } from "./launch.ts";

export interface HttpShell {
  /** The address that clients are given. */
  readonly url: string;
  close(): Promise<void>;
}

export interface HttpShellOptions {
  readonly http: HttpLaunch;
  readonly keys: KeyHolders;
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
  const router = new RequestRouter(options, url);
  const onerror = (error: Error): void => {
    log(`http: ${error.message}`);
  };
  const handle = toNodeHandler(
    { fetch: (request) => router.fetch(request) },
    { onerror, maxRequestBodySize: MOST_BODY_BYTES },
  );
  server.on("request", (request, response) => {
    const { method = "GET", url: path = "/", headers } = request;
    void handle(Object.assign(request, { method, url: path, headers }), response);
  });
  return {
    url,
    close: async () => {
      await router.close();
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

/** Takes one request after another, and hands each to the protocol that it speaks. */
class RequestRouter {
  readonly #options: HttpShellOptions;
  /** The address that clients use. */
  readonly #url: string;
  readonly #metadataUrl: string;
  /** What the Host header may name. */
  readonly #hostnames: readonly string[];
  /** What the Origin header may name. */
  readonly #origins: readonly string[];
  readonly #modern: ModernHandlers;
  readonly #legacy: LegacyConnections;

  constructor(options: HttpShellOptions, url: string) {
    const { http, serverFor, log } = options;
    this.#options = options;
    this.#url = url;
    this.#metadataUrl = new URL(`${METADATA}${new URL(url).pathname}`, url).href;
    this.#hostnames = [...localhostAllowedHostnames(), new URL(url).hostname];
    this.#origins = [...localhostAllowedOrigins(), ...http.allowedOrigins.map((origin) => new URL(origin).hostname)];
    this.#modern = new ModernHandlers(serverFor, log);
    this.#legacy = new LegacyConnections((holder) => serverFor(holder, () => this.#modern.of(holder).notify));
  }

  async fetch(request: Request): Promise<Response> {
    try {
      return await this.#respond(request);
    } catch (error) {
      this.#options.log(`http: ${error instanceof Error ? (error.stack ?? error.message) : "unknown"}`);
      return refusal(500, "The server failed in an unforeseen way; its log has the details");
    }
  }

  async close(): Promise<void> {
    await this.#legacy.close();
    await this.#modern.close();
  }

  async #respond(request: Request): Promise<Response> {
    const misdirected =
      hostHeaderValidationResponse(request, [...this.#hostnames]) ??
      originValidationResponse(request, [...this.#origins]);
    if (misdirected !== undefined) return misdirected;
    const { pathname } = new URL(request.url);
    if (pathname === METADATA || pathname === METADATA + PATH) return resourceMetadata(this.#url);
    if (pathname !== PATH) return refusal(404, `The tools are at ${PATH}`);
    const key = bearerIn(request);
    if (key?.startsWith(`${KEY_PREFIX}_`) === true && !isKeyText(key))
      return unauthorized(this.#metadataUrl, KEY_REFUSALS.mistyped, true);
    if (key === null || !isKeyText(key))
      return unauthorized(this.#metadataUrl, "Send a Coffer API key: Authorization: Bearer cof_…", key !== null);
    const lookup = await this.#options.keys.find(key);
    if (lookup.kind === "refused") return unauthorized(this.#metadataUrl, lookup.sentence, true);
    if (lookup.kind === "full")
      return refusal(503, "This server serves as many keys as it can; wait", { "retry-after": "60" });
    if (lookup.kind === "unreachable") return refusal(503, "The Coffer service did not answer", { "retry-after": "5" });
    return await this.#callWithinLimits(request, lookup.holder);
  }

  async #callWithinLimits(request: Request, holder: KeyHolder): Promise<Response> {
    // A stream that only listens waits for hours and costs nothing.
    const counts = request.method === "POST";
    const wait = counts ? holder.acquire() : null;
    if (wait !== null) return refusal(429, "Too many calls of this key; wait", { "retry-after": String(wait) });
    holder.requests += 1;
    let isOver = false;
    const release = (): void => {
      if (isOver) return;
      isOver = true;
      holder.requests -= 1;
      if (counts) holder.release();
    };
    try {
      const response = (await isLegacyRequest(request))
        ? await this.#legacy.handle(request, holder)
        : await this.#modern.of(holder).fetch(request);
      return whenRead(
        redactedResponse(response, (text) => holder.redaction.redact(text)),
        release,
      );
    } catch (error) {
      release();
      throw error;
    }
  }
}

/** The handlers of the 2026 revision: one for each key. */
class ModernHandlers {
  readonly #serverFor: HttpShellOptions["serverFor"];
  readonly #onerror: (error: Error) => void;
  readonly #byHolder = new WeakMap<KeyHolder, McpHttpHandler>();
  /** All of them, to close them. A key that is not held any more takes its handler along. */
  readonly #open = new Set<WeakRef<McpHttpHandler>>();

  constructor(serverFor: HttpShellOptions["serverFor"], log: HttpShellOptions["log"]) {
    this.#serverFor = serverFor;
    this.#onerror = (error) => {
      log(`protocol: ${error.message}`);
    };
  }

  of(holder: KeyHolder): McpHttpHandler {
    const existing = this.#byHolder.get(holder);
    if (existing !== undefined) return existing;
    const handler: McpHttpHandler = createMcpHandler(() => this.#serverFor(holder, () => handler.notify), {
      legacy: "reject",
      onerror: this.#onerror,
    });
    this.#byHolder.set(holder, handler);
    this.#open.add(new WeakRef(handler));
    return handler;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map(async (handler) => handler.deref()?.close()));
  }
}

/** The response, which runs `done` once when its body ended or its reader went away. */
function whenRead(response: Response, done: () => void): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
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
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}
