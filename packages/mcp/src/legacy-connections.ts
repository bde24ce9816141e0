/** Connections of the 2025 revisions over HTTP: one server for each, found again by the id that the client sends. */
import { randomUUID } from "node:crypto";
import { WebStandardStreamableHTTPServerTransport, type McpServer } from "@modelcontextprotocol/server";
import { RecentEvents } from "./event-store.ts";
import { refusal } from "./http-responses.ts";
import type { KeyHolder } from "./key-holders.ts";

/** A key has at most so many. */
const MOST_CONNECTIONS = 32;
const IDLE_MS = 30 * 60_000;
const SWEEP_EVERY_MS = 60_000;
/** A client that lost its stream comes back after so long. */
const RETRY_MS = 1_000;

interface Connection {
  readonly holder: KeyHolder;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
}

export class LegacyConnections {
  readonly #serverFor: (holder: KeyHolder) => McpServer;
  /** By the id that each client sends. */
  readonly #open = new Map<string, Connection>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(serverFor: (holder: KeyHolder) => McpServer) {
    this.#serverFor = serverFor;
    this.#sweeper = setInterval(() => this.#closeIdle(), SWEEP_EVERY_MS);
    this.#sweeper.unref();
  }

  async handle(request: Request, holder: KeyHolder): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id !== null) {
      const connection = this.#open.get(id);
      // The id of another key's connection is none: it opens nothing.
      if (connection?.holder !== holder) return refusal(404, "No such connection; initialize again");
      connection.usedAt = Date.now();
      return await connection.transport.handleRequest(request);
    }
    if (holder.connections >= MOST_CONNECTIONS) await this.#closeOldestOf(holder);
    return await (await this.#connect(holder)).handleRequest(request);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#open.values()].map(({ transport }) => transport.close()));
  }

  async #connect(holder: KeyHolder): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new RecentEvents(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => {
        holder.connections += 1;
        this.#open.set(id, { holder, transport, usedAt: Date.now() });
      },
    });
    const server = this.#serverFor(holder);
    await server.connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      if (transport.sessionId !== undefined && this.#open.delete(transport.sessionId)) holder.connections -= 1;
      onclose?.();
    };
    return transport;
  }

  async #closeOldestOf(holder: KeyHolder): Promise<void> {
    const [oldest] = [...this.#open.values()]
      .filter((each) => each.holder === holder)
      .sort((a, b) => a.usedAt - b.usedAt);
    await oldest?.transport.close();
  }

  #closeIdle(): void {
    for (const { transport, usedAt } of this.#open.values()) if (Date.now() - usedAt > IDLE_MS) void transport.close();
  }
}
