/** Receivers of webhooks on loopback, decent ones and others. */
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import type { Certificate } from "../kit/certificates.ts";
import { findSteadyPort } from "../kit/steady-port.ts";

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Which of the receiver's connections it came on; the first is 1. */
  readonly connection: number;
}

export interface Receiver extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  connections(): number;
  /** Bytes that the receiver has heard on all connections; of a TLS receiver those inside. */
  heard(): number;
  /** Resolves when every connection there has been is closed. */
  allClosed(): Promise<void>;
}

export interface ReceiverOptions {
  readonly host?: string;
  readonly port?: number;
  /** Speaks TLS. */
  readonly certificate?: Certificate;
  /** Hears the name that each client asks for in TLS. */
  readonly onServerName?: (name: string) => void;
}

/** A server of HTTP; it has the whole request when it answers. */
export async function openReceiver(
  answer: (response: ServerResponse, request: ReceivedRequest) => void,
  options: ReceiverOptions = {},
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const numbers = new WeakMap<object, number>();
  // Nothing closes an idle connection but the client.
  const http = createHttpServer({ keepAliveTimeout: 0 }, (message, response) => {
    const { method = "", url = "", headers, socket } = message;
    void text(message).then((body) => {
      const request = { method, url, headers, body, connection: numbers.get(socket) ?? 0 };
      requests.push(request);
      answer(response, request);
    });
  });
  const receiver = await openRawReceiver((socket, connection) => {
    numbers.set(socket, connection);
    http.emit("connection", socket);
  }, options);
  return { ...receiver, requests };
}

/** A server of bytes. `serve` gets every connection, the first as 1; when it was told a certificate, after the handshake. */
export async function openRawReceiver(
  serve: (socket: Socket, connection: number) => void,
  { host = "127.0.0.1", port = 0, certificate, onServerName }: ReceiverOptions = {},
): Promise<Receiver> {
  let connections = 0;
  let heard = 0;
  const open = new Set<Socket>();
  const accept = (socket: Socket): void => {
    connections += 1;
    watch(socket);
    if (certificate === undefined) serve(socket, connections);
  };
  const watch = (socket: Socket): void => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      heard += socket.bytesRead;
      open.delete(socket);
    });
  };
  const server: Server = certificate === undefined ? createTcpServer(accept) : createTlsServer(certificate);
  if (certificate !== undefined) {
    server.on("connection", accept);
    server.on("tlsClientError", () => undefined);
    server.on("secureConnection", (socket: TLSSocket) => {
      socket.on("error", () => undefined);
      onServerName?.(typeof socket.servername === "string" ? socket.servername : "");
      serve(socket, connections);
    });
  }
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    requests: [],
    connections: () => connections,
    heard: () => [...open].reduce((sum, socket) => sum + socket.bytesRead, heard),
    async allClosed() {
      await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A port of 127.0.0.1 where nobody listens. */
export const closedPort = findSteadyPort;
