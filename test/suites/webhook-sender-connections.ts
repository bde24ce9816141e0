/** The part of the sender's suite that is about connections: broken ones, those over TLS, and those kept open. */
import type { WebhookSender } from "@coffer/server/ports/webhook-sender";
import type { Socket } from "node:net";
import { beforeAll, expect, it } from "vitest";
import { makeCertificates, type TestCertificates } from "../kit/certificates.ts";
import { closedPort, openRawReceiver, openReceiver, type Receiver } from "./webhook-receivers.ts";
import { says, send, type SenderSetup, sendTo, SOON } from "./webhook-sending.ts";

export function describeBrokenConnections(open: (setup?: SenderSetup) => WebhookSender): void {
  it("says when nobody takes the connection, and when the name has no address", async () => {
    const resolve = (hostname: string): Promise<readonly string[]> =>
      hostname === "empty.example" ? Promise.resolve([]) : Promise.reject(new Error("ENOTFOUND"));
    await using sender = open({ resolve });
    expect(await sendTo(sender, { port: await closedPort() })).toMatchObject({
      httpStatus: 0,
      failure: "connection refused",
    });
    expect(await send(sender, "https://missing.example/")).toMatchObject({ httpStatus: 0, failure: "dns" });
    expect(await send(sender, "https://empty.example/")).toMatchObject({ httpStatus: 0, failure: "dns" });
  });

  it("tries the next address when one does not answer", async () => {
    await using receiver = await openReceiver((response) => response.end());
    await using sender = open({ resolve: () => Promise.resolve(["127.0.0.9", "127.0.0.1"]) });
    const url = `http://receiver.example:${receiver.port}/`;
    expect(await send(sender, url)).toMatchObject({ httpStatus: 200, failure: null });
    expect(receiver.requests[0]?.headers.host).toBe(`receiver.example:${receiver.port}`);
  });

  const reset = (socket: Socket): void => void socket.resetAndDestroy();
  it.each<[string, (socket: Socket) => void]>([
    ["resets", (socket) => socket.once("data", () => reset(socket))],
    ["closes", (socket) => socket.once("data", () => socket.destroy())],
    ["closes in the headers", (socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nconte"))],
  ])("says when a receiver %s without an answer, and does not ask again", async (_what, serve) => {
    await using receiver = await openRawReceiver(serve);
    await using sender = open();
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: 0, failure: "connection reset" });
    expect(receiver.connections()).toBe(1);
  });

  it.each<[string, (socket: Socket) => void]>([
    ["resets", reset],
    ["closes", (socket) => socket.end()],
    ["answers", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")],
    ["babbles", (socket) => socket.write("220 smtp.example ESMTP\r\n")],
  ])("does not go round in circles with a receiver that %s before it has heard anything", async (_what, serve) => {
    await using receiver = await openRawReceiver(serve);
    await using sender = open({ timeout: SOON });
    for (const _ of [1, 2, 3]) {
      const before = receiver.connections();
      await sendTo(sender, receiver);
      expect(receiver.connections() - before).toBeLessThanOrEqual(1);
    }
  });

  it.each([
    [200, null],
    [410, "HTTP 410"],
  ])("lets the status count when a receiver resets in the body of a %i", async (status, failure) => {
    const head = `HTTP/1.1 ${status} Some\r\ncontent-length: 10\r\n\r\nbegun`;
    await using receiver = await openRawReceiver((socket) => {
      socket.once("data", () => socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 30)));
    });
    await using sender = open();
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: status, failure, responseBody: "begun" });
  });

  it.each([
    ["no HTTP", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["a broken status", "HTTP/1.1 abc OK\r\n\r\n"],
    ["a broken header", "HTTP/1.1 200 OK\r\nbad header\x01: 1\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
    ["a length and chunks", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["another protocol", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"],
    ["headers beyond measure", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(64 * 1024)}\r\n\r\n`],
    ["headers without end", `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(16 * 1024)}`],
  ])("says when an answer is %s", async (_what, text) => {
    await using receiver = await openRawReceiver(says(text));
    await using sender = open();
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: 0, failure: "bad response" });
    await receiver.allClosed();
    expect(receiver.connections()).toBe(1);
  });
}

export function describeTls(open: (setup?: SenderSetup) => WebhookSender): void {
  let certificates: TestCertificates | null = null;
  beforeAll(() => {
    certificates = makeCertificates();
  });

  it("sends over TLS to whom the certificate names, and says that name", async (context) => {
    if (certificates === null) return context.skip("openssl is not installed");
    const names: string[] = [];
    const options = { certificate: certificates.good, onServerName: (name: string) => names.push(name) };
    await using receiver = await openReceiver((response) => response.end("ok"), options);
    await using sender = open({ allowHttp: false, trust: certificates.trust });
    for (const host of ["localhost", "localhost.", "127.0.0.1"]) {
      const outcome = await send(sender, `https://${host}:${receiver.port}/`);
      expect(outcome, host).toMatchObject({ httpStatus: 200, failure: null, responseBody: "ok" });
    }
    expect(names).toEqual(["localhost", "localhost", ""]);
  });

  it.for(["expired", "otherName", "untrusted"] as const)(
    "sends nothing when the certificate is %s",
    async (kind, context) => {
      if (certificates === null) return context.skip("openssl is not installed");
      await using receiver = await openReceiver((response) => response.end(), { certificate: certificates[kind] });
      await using sender = open({ trust: certificates.trust });
      // Node's switch for the whole process must not reach here.
      const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
      try {
        const outcome = await send(sender, `https://localhost:${receiver.port}/`);
        expect(outcome).toMatchObject({ httpStatus: 0, failure: "tls" });
      } finally {
        if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
        else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
      }
      expect(receiver.requests).toEqual([]);
    },
  );

  it.each<[string, (socket: Socket) => void]>([
    ["speaks plain HTTP", says("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")],
    ["closes in the handshake", (socket) => socket.once("data", () => socket.destroy())],
    ["resets in the handshake", (socket) => socket.once("data", () => socket.resetAndDestroy())],
  ])("says so when a receiver %s where TLS is expected", async (_what, serve) => {
    await using receiver = await openRawReceiver(serve);
    await using sender = open();
    const outcome = await send(sender, `https://localhost:${receiver.port}/`);
    expect(outcome).toMatchObject({ httpStatus: 0, failure: "tls" });
  });
}

export function describeKeptConnections(open: (setup?: SenderSetup) => WebhookSender): void {
  it("keeps a connection for the next, and opens as many as are needed at once", async () => {
    const waiting: (() => void)[] = [];
    await using receiver = await openReceiver((response, { url }) => {
      if (url === "/wait") waiting.push(() => response.end());
      else response.end();
      if (waiting.length === 3) for (const go of waiting) go();
    });
    await using sender = open();
    for (const _ of [1, 2, 3]) expect((await sendTo(sender, receiver)).failure).toBe(null);
    expect(receiver.connections()).toBe(1);
    const together = await Promise.all([1, 2, 3].map(() => sendTo(sender, receiver, "/wait")));
    expect(together.map(({ failure }) => failure)).toEqual([null, null, null]);
    expect(receiver.connections()).toBe(3);
  });

  it("tries once more at once when a kept connection turns out to be closed", async () => {
    await using receiver = await openReceiver((response, { connection }) => {
      // Each connection carries one answer and is cut at its second request, as if it had been closed just before.
      if (requestsOn(receiver, connection) > 1) response.socket?.resetAndDestroy();
      else response.end(String(connection));
    });
    await using sender = open();
    for (const connection of ["1", "2", "3"]) {
      const expected = { httpStatus: 200, failure: null, responseBody: connection };
      expect(await sendTo(sender, receiver)).toMatchObject(expected);
    }
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3]);
  });

  it("tries once more only once, and only when not a byte of an answer came", async () => {
    let broken: "all" | "begun" | null = null;
    await using receiver = await openReceiver((response, { connection }) => {
      if (broken === null) response.end();
      else if (broken === "begun" && connection === 1) response.socket?.end("HTTP/1.1 200 OK\r\n");
      else response.socket?.resetAndDestroy();
    });
    await using sender = open();
    await sendTo(sender, receiver);
    broken = "begun";
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: 0, failure: "connection reset" });
    expect(receiver.requests).toHaveLength(2);
    broken = null;
    await sendTo(sender, receiver);
    broken = "all";
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: 0, failure: "connection reset" });
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3]);
  });

  it("does not try a second kept connection: it is probably closed as well", async () => {
    let cut = false;
    const waiting: (() => void)[] = [];
    await using receiver = await openReceiver((response, { connection }) => {
      if (cut && connection <= 2) return void response.socket?.resetAndDestroy();
      waiting.push(() => response.end());
      if (cut || waiting.length === 2) for (const go of waiting) go();
    });
    await using sender = open();
    await Promise.all([sendTo(sender, receiver), sendTo(sender, receiver)]);
    cut = true;
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: 200, failure: null });
    expect(receiver.requests).toHaveLength(4);
    expect(receiver.connections()).toBe(3);
  });

  it("does not reuse a connection that the receiver wants closed, nor takes its successor for a kept one", async () => {
    await using receiver = await openReceiver((response, { connection }) => {
      if (connection < 3) response.setHeader("connection", "close").end();
      else response.socket?.resetAndDestroy();
    });
    await using sender = open();
    for (const _ of [1, 2]) expect((await sendTo(sender, receiver)).failure).toBe(null);
    expect((await sendTo(sender, receiver)).failure).toBe("connection reset");
    expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 2, 3]);
  });
}

function requestsOn({ requests }: Receiver, connection: number): number {
  return requests.filter((request) => request.connection === connection).length;
}
