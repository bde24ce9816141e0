/** Connections of the 2025 revisions over HTTP: one server for each, found again by the id that the client sends. */
import { randomUUID } from "node:crypto";
import { WebStandardStreamableHTTPServerTransport, type McpServer } from "@modelcontextprotocol/server";
import { createEventStore } from "./event-store.ts";
import { refusal } from "./http-responses.ts";
import type { KeyHolder } from "./key-holders.ts";

export interface Connections {
  handle(request: Request, holder: KeyHolder): Promise<Response>;
  close(): Promise<void>;
}

/** A key has at most so many. */
const MOST_CONNECTIONS = 32;
const IDLE_MS = 30 * 60_000;
/** A client that lost its stream comes back after so long. */
const RETRY_MS = 1_000;

interface Connection {
  readonly holder: KeyHolder;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
}

export function createConnections(serverFor: (holder: KeyHolder) => McpServer): Connections {
  const open = new Map<string, Connection>();
  const sweeper = setInterval(() => {
    for (const { transport, usedAt } of open.values()) if (Date.now() - usedAt > IDLE_MS) void transport.close();
  }, 60_000);
  sweeper.unref();

  const connect = async (holder: KeyHolder): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => {
        holder.connections += 1;
        open.set(id, { holder, transport, usedAt: Date.now() });
      },
    });
    const server = serverFor(holder);
    await server.connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      if (transport.sessionId !== undefined && open.delete(transport.sessionId)) holder.connections -= 1;
      onclose?.();
    };
    return transport;
  };

  return {
    handle: async (request, holder) => {
      const id = request.headers.get("mcp-session-id");
      if (id !== null) {
        const known = open.get(id);
        // The id of another key's connection is none: it opens nothing.
        if (known?.holder !== holder) return refusal(404, "No such connection; initialize again");
        known.usedAt = Date.now();
        return await known.transport.handleRequest(request);
      }
      if (holder.connections >= MOST_CONNECTIONS) {
        const [oldest] = [...open.values()]
          .filter((each) => each.holder === holder)
          .sort((a, b) => a.usedAt - b.usedAt);
        await oldest?.transport.close();
      }
      return await (await connect(holder)).handleRequest(request);
    },
    close: async () => {
      clearInterval(sweeper);
      await Promise.all([...open.values()].map(({ transport }) => transport.close()));
    },
  };
}
