/** What every driver of the webhook sender port must do, against real receivers. What it may not reach is in webhook-guard.ts. */
import type { WebhookSender } from "@coffer/server/ports/webhook-sender";
import { describe, expect, it } from "vitest";
import { openRawReceiver, openReceiver } from "./webhook-receivers.ts";
import { describeBrokenConnections, describeKeptConnections, describeTls } from "./webhook-sender-connections.ts";
import { BODY, HEADERS, type OpenSender, says, send, type SenderSetup, sendTo, SOON } from "./webhook-sending.ts";

const LOOPBACK = { allowHttp: true, allowedNetworks: ["127.0.0.0/8"] } as const;

export function describeWebhookSender(name: string, openSender: OpenSender): void {
  const open = (setup: SenderSetup = {}): WebhookSender => openSender({ ...LOOPBACK, ...setup });
  describe(`webhook sender: ${name}`, () => {
    describeAnswers(open);
    describeBodies(open);
    describeSilence(open);
    describeBrokenConnections(open);
    describeTls(open);
    describeKeptConnections(open);
    describeEnds(open);
  });
}

function describeAnswers(open: (setup?: SenderSetup) => WebhookSender): void {
  it("posts the very bytes and headers, and nothing of a fragment", async () => {
    await using receiver = await openReceiver((response) => response.end("thanks"));
    await using sender = open();
    const outcome = await sendTo(sender, receiver, "/hook/a%20b?x=1&y=%2F#fragment");
    expect(outcome).toMatchObject({ httpStatus: 200, failure: null, retryAfter: null, responseBody: "thanks" });
    expect(Number.isInteger(outcome.duration) && outcome.duration >= 0).toBe(true);
    expect(receiver.requests).toMatchObject([
      { method: "POST", url: "/hook/a%20b?x=1&y=%2F", body: BODY, headers: HEADERS },
    ]);
    expect(receiver.requests[0]?.headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      "content-length": String(Buffer.byteLength(BODY)),
    });
  });

  it.each([200, 201, 202, 204, 299])("%i is a success", async (status) => {
    await using receiver = await openReceiver((response) => response.writeHead(status).end());
    await using sender = open();
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: status, failure: null, responseBody: "" });
  });

  it.each([400, 401, 404, 410, 413, 429, 500, 502, 503, 599])("%i is a failure that says so", async (status) => {
    await using receiver = await openReceiver((response) => response.writeHead(status).end("no"));
    await using sender = open();
    const expected = { httpStatus: status, failure: `HTTP ${status}`, responseBody: "no", retryAfter: null };
    expect(await sendTo(sender, receiver)).toMatchObject(expected);
  });

  it.each([300, 301, 302, 303, 304, 307, 308])("%i is a failure, and is not followed", async (status) => {
    await using inner = await openReceiver((response) => response.end());
    const location = `http://127.0.0.1:${inner.port}/`;
    await using receiver = await openReceiver((response) => response.writeHead(status, { location }).end());
    await using sender = open();
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: status, failure: `HTTP ${status}` });
    expect(inner.connections()).toBe(0);
    expect(receiver.requests).toHaveLength(1);
  });

  const now = Date.UTC(2026, 10, 20, 17);
  const clock = { now: () => now, elapsed: () => 0 };
  const httpDate = (time: number): string => new Date(time).toUTCString();
  it.each([
    [429, "120", 120_000],
    [502, "1", 1_000],
    [503, httpDate(now + 90_000), 90_000],
    [504, httpDate(now - 90_000), 0],
    [429, "0", 0],
    [429, "9".repeat(400), 86_400_000],
    [503, httpDate(now + 30 * 86_400_000), 86_400_000],
    [429, "-5", null],
    [429, "soon", null],
    [429, "2026-11-20", null],
    [500, "120", null],
    [200, "120", null],
  ])("%i with Retry-After: %s asks to wait %s ms", async (status, value, expected) => {
    await using receiver = await openReceiver((response) => response.writeHead(status, { "retry-after": value }).end());
    await using sender = open({ clock });
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: status, retryAfter: expected });
  });

  it("waits for the answer behind interim ones", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
    await using receiver = await openRawReceiver(
      says(`${hints}${hints}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`),
    );
    await using sender = open();
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: 200, failure: null, responseBody: "ok" });
  });
}

function describeBodies(open: (setup?: SenderSetup) => WebhookSender): void {
  it("reads 16 KiB of 50 MiB, and closes the connection there", async () => {
    let written = 0;
    const chunk = Buffer.alloc(64 * 1024, "a");
    await using receiver = await openReceiver((response) => {
      const pump = (): void => {
        while (written < 50 * 1024 * 1024 && !response.destroyed) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", pump);
        }
        response.end();
      };
      pump();
    });
    await using sender = open();
    const outcome = await sendTo(sender, receiver);
    expect(outcome).toMatchObject({ httpStatus: 200, failure: null, responseBody: "a".repeat(16 * 1024) });
    await receiver.allClosed();
    expect(written).toBeLessThan(50 * 1024 * 1024);
  });

  it("keeps the connection of a body that just fits", async () => {
    await using receiver = await openReceiver((response) => response.end("b".repeat(16 * 1024)));
    await using sender = open();
    for (const _ of [1, 2]) expect((await sendTo(sender, receiver)).responseBody).toHaveLength(16 * 1024);
    expect(receiver.connections()).toBe(1);
  });

  it("answers with text that can be shown: no control characters, and no half characters", async () => {
    const bytes = [
      0x00, 0x1b, 0x5b, 0x33, 0x31, 0x6d, 0x61, 0x0d, 0x0a, 0x09, 0xc3, 0xa4, 0xff, 0xc2, 0x85, 0x7f, 0x62,
    ];
    const bidi = Buffer.from("\u202ec\u2066\u2028");
    await using receiver = await openReceiver((response) => response.end(Buffer.concat([Buffer.from(bytes), bidi])));
    await using sender = open();
    expect((await sendTo(sender, receiver)).responseBody).toBe("[31ma\n\tä\ufffdbc");
    await using long = await openReceiver((response) => response.end("x" + "ä".repeat(16 * 1024)));
    expect((await sendTo(sender, long)).responseBody).toBe("x" + "ä".repeat(8 * 1024 - 1));
  });
}

/** Milliseconds: time enough for headers to arrive, also on a busy machine. */
const BEHIND_HEADERS = 1_000;

function describeSilence(open: (setup?: SenderSetup) => WebhookSender): void {
  it("gives up a receiver that does not answer, and closes the connection", async () => {
    await using receiver = await openRawReceiver((socket) => void socket.resume());
    await using sender = open({ timeout: SOON });
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: 0, failure: "timeout", responseBody: "" });
    await receiver.allClosed();
    expect(receiver.connections()).toBe(1);
  });

  it.each([
    [200, null],
    [500, "HTTP 500"],
  ])("gives up a body that stops after %i, and the status counts", async (status, failure) => {
    await using receiver = await openReceiver((response) => void response.writeHead(status).write("begun"));
    await using sender = open({ timeout: BEHIND_HEADERS });
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: status, failure, responseBody: "begun" });
    await receiver.allClosed();
  });

  it("gives up a body that drips: the time is for all of it, and the status counts", async () => {
    await using receiver = await openReceiver((response) => {
      const drip = setInterval(() => response.write("."), 5);
      response.once("close", () => clearInterval(drip));
    });
    await using sender = open({ timeout: BEHIND_HEADERS });
    const outcome = await sendTo(sender, receiver);
    expect(outcome).toMatchObject({ httpStatus: 200, failure: null });
    expect(outcome.responseBody).toMatch(/^\.+$/);
    await receiver.allClosed();
  });

  it("gives up interim answers without end", async () => {
    await using receiver = await openRawReceiver((socket) => {
      const drip = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), 5);
      socket.once("close", () => clearInterval(drip));
    });
    await using sender = open({ timeout: SOON });
    expect(await sendTo(sender, receiver)).toMatchObject({ httpStatus: 0, failure: "timeout" });
    await receiver.allClosed();
  });

  it("gives up a handshake that does not come, and a name that is not found in time", async () => {
    await using receiver = await openRawReceiver((socket) => void socket.resume());
    const resolve = () => new Promise<never>(() => undefined);
    const failed = { httpStatus: 0, failure: "timeout" };
    await using sender = open({ connectTimeout: SOON, resolve });
    expect(await send(sender, `https://127.0.0.1:${receiver.port}/`)).toMatchObject(failed);
    expect(await send(sender, "https://receiver.example/")).toMatchObject(failed);
    await receiver.allClosed();
  });

  it("closes what is only opening when the time for all is over first", async () => {
    await using receiver = await openRawReceiver((socket) => void socket.resume());
    await using sender = open({ timeout: SOON, connectTimeout: 3_600_000 });
    const outcome = await send(sender, `https://127.0.0.1:${receiver.port}/`);
    expect(outcome).toMatchObject({ httpStatus: 0, failure: "timeout" });
    await receiver.allClosed();
  });
}

/** Milliseconds: what waits for kept connections to be closed at last runs out of time. */
const FAR_SHORTER_THAN_KEPT = 60_000;

function describeEnds(open: (setup?: SenderSetup) => WebhookSender): void {
  const ended = { httpStatus: 0, failure: "timeout" };

  it("ends with `timeout` when it is told to stop, before and during a request", async () => {
    await using receiver = await openRawReceiver((socket) => {
      socket.once("data", () => stopping.abort());
    });
    const stopping = new AbortController();
    await using sender = open();
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect(await send(sender, url, stopping.signal)).toMatchObject(ended);
    await receiver.allClosed();
    expect(await send(sender, url, stopping.signal)).toMatchObject(ended);
    expect(receiver.connections()).toBe(1);
  });

  it(
    "ends with `timeout` what is under way when it is disposed, and sends nothing afterwards",
    async () => {
      const { promise: arrived, resolve: arrive } = Promise.withResolvers<undefined>();
      await using receiver = await openReceiver((response, { url }) => {
        if (url === "/kept") response.setHeader("keep-alive", "timeout=600").end();
        else arrive(undefined);
      });
      const sender = open();
      await Promise.all([sendTo(sender, receiver, "/kept"), sendTo(sender, receiver, "/kept")]);
      const running = sendTo(sender, receiver, "/running");
      await arrived;
      await sender[Symbol.asyncDispose]();
      expect(await running).toMatchObject(ended);
      await receiver.allClosed();
      expect(await sendTo(sender, receiver)).toMatchObject(ended);
      expect(receiver.requests).toHaveLength(3);
      expect(receiver.connections()).toBe(2);
    },
    FAR_SHORTER_THAN_KEPT,
  );
}
