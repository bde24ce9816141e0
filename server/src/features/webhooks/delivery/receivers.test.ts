import { describe, expect, it } from "vitest";
import {
  closedPort,
  openRawReceiver,
  openReceiver,
  type Receiver,
} from "../../../../../test/suites/webhook-receivers.ts";
import { openWebhookSender } from "../../../drivers/webhook-sender/undici.ts";
import { openTestEngine, type TestEngine } from "./test-engine.ts";

const HOUR = 3_600_000;
const MEBIBYTE = 1024 * 1024;
/** Real milliseconds: more than a busy machine takes, and what a receiver that hangs is worth waiting for here. */
const PATIENT = 30_000;
const HANGS = 100;
/** For headers to arrive, also on a busy machine. */
const HANGS_BEHIND_HEADERS = 1_000;

/** The engine with the sender that production has. */
function open(timeout = PATIENT): Promise<TestEngine> {
  const loopback = { allowHttp: true, allowedNetworks: ["127.0.0.0/8"], proxyUrl: null };
  return openTestEngine({ sender: openWebhookSender({ ...loopback, timeout, connectTimeout: PATIENT }) });
}

async function attemptOnce(test: TestEngine, url: string) {
  const webhookId = await test.endpoint(url);
  await test.change();
  await test.run();
  const delivery = await test.delivery(webhookId);
  const [attempt] = await test.attempts(delivery.id);
  return { webhookId, delivery, attempt, webhook: await test.webhook(webhookId) };
}

const local = (receiver: Receiver, scheme = "http"): string => `${scheme}://127.0.0.1:${receiver.port}/hook`;

interface Recorded {
  readonly error: string;
  readonly status: number;
  readonly scheme?: string;
  /** How long it is waited for. */
  readonly timeout?: number;
}

/** What each of them does to the request, and what is recorded then. */
const TROUBLE: readonly [string, () => Promise<Receiver>, Recorded][] = [
  [
    "answers 500",
    () => openReceiver((response) => response.writeHead(500).end("no")),
    { error: "HTTP 500", status: 500 },
  ],
  ["hangs", () => openReceiver(() => undefined), { error: "timeout", status: 0, timeout: HANGS }],
  [
    "hangs in its body",
    () => openReceiver((response) => response.writeHead(200).write("x")),
    { error: "timeout", status: 200, timeout: HANGS_BEHIND_HEADERS },
  ],
  [
    "resets the connection",
    () => openRawReceiver((socket) => socket.once("data", () => socket.resetAndDestroy())),
    { error: "connection reset", status: 0 },
  ],
  [
    "breaks TLS",
    () => openRawReceiver((socket) => socket.once("data", () => socket.end("this is no handshake"))),
    { error: "tls", status: 0, scheme: "https" },
  ],
  [
    "answers what is no HTTP",
    () => openRawReceiver((socket) => socket.once("data", () => socket.end("neither is this\r\n\r\n"))),
    { error: "bad response", status: 0 },
  ],
];

describe("a receiver that", () => {
  it.each(TROUBLE)(
    "%s is tried ten times, and its delivery has failed then, with the reason [D6-last-error] [D6-http-status]",
    async (_, openTrouble, { error, status, scheme, timeout }) => {
      await using test = await open(timeout);
      await using receiver = await openTrouble();
      const { webhookId, delivery, webhook } = await attemptOnce(test, local(receiver, scheme));
      expect(delivery).toMatchObject({ status: "pending", attempts: 1, last_error: error, http_status: status });
      expect(webhook).toMatchObject({ last_delivery_status: "pending", failure_count: 1 });
      for (let attempt = 2; attempt <= 12; attempt += 1) {
        test.app.clock.advance(29 * HOUR);
        // Not five days of failures: this is about one delivery.
        await test.app.deps.database.run(
          test.app.deps.database.build.updateTable("webhooks").set({ failing_since: null }),
        );
        await test.run();
      }
      const end = await test.delivery(webhookId);
      expect(end).toMatchObject({ status: "failed", attempts: 10, last_error: error, http_status: status });
      const { last_delivery_at: at, ...state } = await test.webhook(webhookId);
      expect(state).toMatchObject({ active: 1, last_delivery_status: "failed", failure_count: 10 });
      expect(at).toBe(end.completed_at);
    },
  );

  it("is not there at all is refused", async () => {
    await using test = await open();
    const { delivery } = await attemptOnce(test, `http://127.0.0.1:${await closedPort()}/`);
    expect(delivery).toMatchObject({ status: "pending", last_error: "connection refused", http_status: 0 });
  });

  it("streams 50 MiB has taken it; 16 KiB of its answer are kept", async () => {
    await using test = await open();
    await using receiver = await openReceiver((response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(64 * 1024, "a");
      let written = 0;
      const more = (): void => {
        while (written < 50 * MEBIBYTE && !response.destroyed) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", more);
        }
        response.end();
      };
      more();
    });
    const { delivery, attempt, webhook } = await attemptOnce(test, local(receiver));
    expect(delivery).toMatchObject({ status: "success", http_status: 200, last_error: "" });
    expect(Buffer.byteLength(attempt?.response_body ?? "")).toBe(16 * 1024);
    expect(webhook).toMatchObject({ last_delivery_status: "success", failure_count: 0 });
  });

  it("redirects to an address inside is not followed", async () => {
    await using test = await open();
    await using inside = await openReceiver((response) => response.writeHead(200).end());
    await using receiver = await openReceiver((response) => {
      response.writeHead(302, { location: local(inside) }).end();
    });
    const { delivery } = await attemptOnce(test, local(receiver));
    expect(delivery).toMatchObject({ status: "pending", http_status: 302, last_error: "HTTP 302" });
    expect(inside.requests).toEqual([]);
  });

  it("answers 410 is left alone [D6-disable]", async () => {
    await using test = await open();
    await using receiver = await openReceiver((response) => response.writeHead(410).end());
    const { delivery, webhook } = await attemptOnce(test, local(receiver));
    expect(delivery).toMatchObject({ status: "failed", attempts: 1, last_error: "HTTP 410", next_attempt_at: null });
    expect(webhook).toMatchObject({ active: 0, failure_count: 1, last_delivery_status: "failed" });
    await test.change();
    await test.run();
    expect(receiver.requests).toHaveLength(1);
  });

  it("answers 429 is left alone for as long as it asks", async () => {
    await using test = await open();
    await using receiver = await openReceiver((response, { headers }) => {
      const isFirst = receiver.requests.length === 1;
      response.writeHead(isFirst ? 429 : 204, isFirst ? { "retry-after": "120" } : {}).end();
      expect(headers["webhook-id"]).toMatch(/^msg_[0-9a-f]{32}$/);
    });
    const { webhookId, delivery } = await attemptOnce(test, local(receiver));
    expect(delivery).toMatchObject({ status: "pending", last_error: "HTTP 429" });
    expect(delivery.next_attempt_at).toBe(test.app.clock.now() + 120_000);
    test.app.clock.advance(119_999);
    await test.run();
    expect(receiver.requests).toHaveLength(1);
    test.app.clock.advance(1);
    await test.run();
    expect(receiver.requests).toHaveLength(2);
    expect(await test.delivery(webhookId)).toMatchObject({ status: "success", attempts: 2 });
  });
});
