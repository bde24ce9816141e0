/** TEST ONLY: SMTP servers on loopback, a real one and ones that misbehave. */
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { ReceivedMail } from "../../../../test/suites/mailer.ts";

export interface TestSmtpServer extends AsyncDisposable {
  readonly port: number;
  readonly received: ReceivedMail[];
  /** User and password of every sign-in that was tried. */
  readonly signIns: string[];
  readonly connections: () => number;
}

/** Without TLS and without accounts unless `options` say otherwise. */
export async function openSmtpServer(options: SMTPServerOptions = {}): Promise<TestSmtpServer> {
  const received: ReceivedMail[] = [];
  const signIns: string[] = [];
  let connections = 0;
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onAuth({ username, password }, _session, done) {
      signIns.push(`${username ?? ""}:${password ?? ""}`);
      done(null, { user: username });
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? "" : mailFrom.address;
        const envelope = { from, to: rcptTo.map(({ address }) => address) };
        received.push({ envelope, bytes: Buffer.concat(chunks) });
        done();
      });
    },
    ...options,
  });
  // A client that goes away in the middle is what some tests are about.
  server.on("error", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  return {
    port: portOf(server.server.address()),
    received,
    signIns,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      server.close(() => resolve(undefined));
      await promise;
    },
  };
}

export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** Everything clients have said. */
  readonly heard: () => string;
  /** Resolves when as many connections as there have been are closed. */
  readonly allClosed: () => Promise<void>;
}

/** A server of scripted words: `answer` is called with each line that a client says, and first with null. */
export async function openRawServer(answer: (line: string | null, socket: Socket) => void): Promise<RawServer> {
  let heard = "";
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => undefined);
    answer(null, socket);
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
      for (const line of chunk.toString("latin1").split("\r\n")) if (line !== "") answer(line, socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: portOf(server.address()),
    heard: () => heard,
    async allClosed() {
      for (const socket of open) if (!socket.closed) await once(socket, "close");
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function portOf(address: ReturnType<SMTPServer["server"]["address"]>): number {
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
