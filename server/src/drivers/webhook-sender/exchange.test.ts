/** Receivers that say anything at all: no words of theirs may make `send` reject, hang or keep more than it should. */
import type { Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRawReceiver, type Receiver } from "../../../../test/suites/webhook-receivers.ts";
import { send, sendTo } from "../../../../test/suites/webhook-sending.ts";
import type { WebhookSender } from "../../ports/webhook-sender.ts";
import { openWebhookSender } from "./undici.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 3_000 : 150;
const FAILURES = /^(timeout|connection reset|bad response|HTTP [2-9]\d\d)$/;

const token = fc.string({ unit: fc.constantFrom(..."abz-0 ,;=\u0001\u00ff"), maxLength: 20 });
const headerLine = fc.oneof(
  fc.tuple(
    fc.constantFrom("x", "content-length", "transfer-encoding", "connection", "retry-after", "keep-alive"),
    token,
  ),
  fc.tuple(fc.constant("content-length"), fc.nat({ max: 40_000 }).map(String)),
  fc.constantFrom<[string, string]>(
    ["transfer-encoding", "chunked"],
    ["connection", "close"],
    ["connection", "upgrade"],
  ),
);
const answer = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .tuple(fc.integer({ min: 0, max: 999 }), fc.array(headerLine, { maxLength: 4 }), fc.uint8Array({ maxLength: 300 }))
    .map(([status, headers, body]) => {
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
      return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Words\r\n${lines}\r\n`, "latin1"), body]);
    }),
);
const ending = fc.constantFrom("end", "reset", "stay") satisfies fc.Arbitrary<"end" | "reset" | "stay">;

describe("any answer", () => {
  let receiver: Receiver;
  let sender: WebhookSender;
  let serve: (socket: Socket) => void = () => undefined;
  beforeAll(async () => {
    receiver = await openRawReceiver((socket) => void socket.on("data", () => serve(socket)));
    const networks = { allowHttp: true, allowedNetworks: ["127.0.0.1/32"], proxyUrl: null };
    sender = openWebhookSender({ ...networks, timeout: 30_000, connectTimeout: 30_000 });
  });
  afterAll(async () => {
    await sender[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });

  it("ends as an outcome that keeps its bounds, and spoils nothing for the next", async () => {
    await fc.assert(
      fc.asyncProperty(answer, ending, async (bytes, end) => {
        const stopping = new AbortController();
        serve = (socket) => {
          socket.write(bytes, () => {
            if (end === "reset") socket.resetAndDestroy();
            if (end === "end") socket.end();
            // Nothing more will come: the sender's patience is stood in for, so that a busy machine spoils nothing.
            if (end === "stay") setTimeout(() => stopping.abort(), 5);
          });
        };
        const outcome = await send(sender, `http://127.0.0.1:${receiver.port}/`, stopping.signal);
        expect(outcome.failure ?? "HTTP 200").toMatch(FAILURES);
        if (outcome.failure === null) expect(String(outcome.httpStatus)).toMatch(/^2\d\d$/);
        expect(outcome.responseBody.length).toBeLessThanOrEqual(16 * 1024);
        expect(outcome.responseBody).not.toMatch(/[^\P{Cc}\n\t]/u);
        expect(outcome.retryAfter ?? 0).toBeLessThanOrEqual(86_400_000);
        const good = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfine";
        serve = (socket) => void socket.write(good);
        // A kept connection may bring what was left over once; it is closed then, and the next is sound.
        const next = [await sendTo(sender, receiver), await sendTo(sender, receiver)];
        expect(next.at(-1)).toMatchObject({ httpStatus: 200, failure: null, responseBody: "fine" });
      }),
      { numRuns: RUNS },
    );
  });
});
