import type { TransportRequest } from "../http/transports.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError, ConnectionError, ContractError, TimeoutError } from "../http/errors.ts";
import { failure, ID, json, scripted, silence, type Scripted } from "../http/transport.test-kit.ts";
import type { ReceivedEvent } from "../webhooks/received-event.ts";
// Loaded beforehand: the virtual clock does not wait for a module.
import "./events.ts";

const OPEN = { "content-type": "text/event-stream" };
type Fate = "end" | "reset" | "hang";

function eventOf(sequence: number, type = "invite.created"): Record<string, unknown> {
  const actor = { type: "api-key", id: ID, chainAddress: null };
  const data = { accountId: ID, sequence, actor, object: { type: "invite", id: ID } };
  return { type, timestamp: "2026-11-21T22:00:00.000Z", data };
}

function render(sequence: number, type?: string): string {
  return `id: ${String(sequence)}\nevent: x\ndata: ${JSON.stringify(eventOf(sequence, type))}\n\n`;
}

/** A connection that says these texts and then ends, breaks or goes silent. */
function connection(fate: Fate, ...texts: string[]): () => Response {
  return () => {
    const pieces = texts.map((text) => new TextEncoder().encode(text));
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const next = pieces.shift();
        if (next !== undefined) controller.enqueue(next);
        else if (fate === "end") controller.close();
        else if (fate === "reset") controller.error(new Error("socket hang up"));
        else return new Promise(() => undefined);
        return undefined;
      },
    });
    return new Response(body, { headers: OPEN });
  };
}

const begin = (sequence: number): string => `retry: 2000\nid: ${String(sequence)}\n\n`;

async function take(
  { client }: Scripted,
  count: number,
  options: { readonly after?: number; readonly signal?: AbortSignal } = {},
): Promise<number[]> {
  const seen: number[] = [];
  for await (const event of client.events.follow(options)) {
    seen.push(event.data.sequence);
    if (seen.length === count) break;
  }
  return seen;
}

const places = ({ requests }: Scripted): (string | null)[] =>
  requests.map(({ url }) => new URL(url).searchParams.get("after"));

describe("following events", () => {
  it("gives what came after a place, and what comes on the next connections, once each and in order", async () => {
    const tape = scripted([
      connection("end", begin(4), render(5), render(6)),
      connection("reset", begin(6), render(6), render(7)),
      // A server that begins too early: nothing is given twice.
      connection("hang", render(5), render(6), render(7), render(8)),
    ]);
    expect(await take(tape, 4, { after: 4 })).toEqual([5, 6, 7, 8]);
    expect(places(tape)).toEqual(["4", "6", "7"]);
  });

  it("loses nothing and gives nothing twice, wherever connections are cut [D6-event-feed]", async () => {
    const cut = fc.record({ bytes: fc.nat(3000), pieces: fc.integer({ min: 1, max: 700 }), whole: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 8 }), fc.integer({ min: 1, max: 12 }), async (cuts, count) => {
        const left = [...cuts];
        // The service: its log from the place that was asked for, cut off after some bytes.
        const serve = (request: TransportRequest): Response => {
          const after = Number(new URL(request.url).searchParams.get("after") ?? 0);
          const later = Array.from({ length: count - after }, (_, index) => render(after + index + 1));
          const text = begin(after) + later.join("");
          const next = left.shift();
          if (next === undefined) return connection("hang", text)();
          const sent = text.slice(0, next.bytes);
          const pieces = sent.match(new RegExp(`[^]{1,${String(next.pieces)}}`, "g")) ?? [];
          return connection(next.whole ? "end" : "reset", ...pieces)();
        };
        const seen = await take(scripted([serve]), count, { after: 0 });
        expect(seen).toEqual(Array.from({ length: count }, (_, index) => index + 1));
      }),
      { numRuns: process.env["COFFER_TEST_COUNTS"] === "full" ? 1_000 : 60 },
    );
  });

  it("begins with what happens from now on, and comes back to that place even before the first event", async () => {
    const tape = scripted([connection("end", begin(40)), connection("hang", begin(40), render(41))]);
    expect(await take(tape, 1)).toEqual([41]);
    expect(places(tape)).toEqual([null, "40"]);
  });

  it("gives an event only when all of it has come", async () => {
    const tape = scripted([
      connection("reset", begin(0), render(1), render(2).slice(0, -1)),
      connection("hang", begin(1), render(2)),
    ]);
    expect(await take(tape, 2, { after: 0 })).toEqual([1, 2]);
    expect(places(tape)).toEqual(["0", "1"]);
  });

  it("reads events in pieces of a byte, with text of several bytes", async () => {
    const event = { ...eventOf(1), note: "żółć 🦊" };
    const bytes = new TextEncoder().encode(`id: 1\ndata: ${JSON.stringify(event)}\n\n`);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      },
    });
    const { client } = scripted([() => new Response(body, { headers: OPEN })]);
    for await (const received of client.events.follow({ after: 0 })) {
      expect(received).toEqual(event);
      break;
    }
  });

  it("passes on kinds that it does not know", async () => {
    const tape = scripted([connection("hang", begin(0), render(1, "galaxy.moved"))]);
    const { value } = await tape.client.events.follow({ after: 0 }).next();
    expect((value as ReceivedEvent).type).toBe("galaxy.moved");
  });

  it("takes a connection for dead on which nothing came for the client's stall limit, heartbeats included", async () => {
    const tape = scripted([connection("hang", begin(0)), connection("hang", render(1))], {
      timeouts: { stallMs: 45_000 },
    });
    const reasons: unknown[] = [];
    const onReconnect = (error: unknown): void => void reasons.push(error);
    const feed = tape.client.events.follow({ after: 0, onReconnect });
    await feed.next();
    await feed.return();
    expect(reasons).toEqual([expect.any(TimeoutError)]);
    expect(tape.clock.waits[0]).toBe(45_000);
    expect(tape.clock.pending).toBe(0);
  });

  it("waits as long as the server asks, and longer with every connection that tells nothing", async () => {
    const lost = new Error("refused");
    const tape = scripted([
      connection("end", "retry: 1000\nid: 0\n\n"),
      ...[lost, lost, lost, lost, lost, lost],
      failure("rate_limited", { "retry-after": "50" }),
      connection("hang", render(1)),
    ]);
    const waits: number[] = [];
    const onReconnect = (_error: unknown, waitMs: number): void => void waits.push(waitMs);
    const feed = tape.client.events.follow({ after: 0, onReconnect });
    await feed.next();
    await feed.return();
    // Randomness 0.5: three quarters of 1, 1, 2, 4, 8, 16 and 30 s; then what Retry-After asks.
    expect(waits).toEqual([750, 750, 1500, 3000, 6000, 12_000, 22_500, 50_000]);
  });

  it("fails with a typed error when the service refuses, at once and later", async () => {
    const first = scripted([failure("missing_scope")]);
    await expect(take(first, 1)).rejects.toMatchObject({ name: "ApiError", code: "missing_scope" });
    const later = scripted([connection("end", begin(0), render(1)), failure("invalid_credential")]);
    await expect(take(later, 2, { after: 0 })).rejects.toBeInstanceOf(ApiError);
  });

  it("gives up on a service that was never there, as every call does", async () => {
    const tape = scripted([new Error("refused")]);
    await expect(take(tape, 1)).rejects.toBeInstanceOf(ConnectionError);
    expect(tape.requests).toHaveLength(5);
  });

  it.each([
    ["a page of a proxy", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["JSON", () => json({ events: [] })],
    ["data that is no event", connection("hang", "id: 1\ndata: {}\n\n")],
    ["data that is no JSON", connection("hang", "id: 1\ndata: {\n\n")],
    ["a place that is no number", connection("hang", "id: x\n\n")],
    ["a line without an end", connection("hang", ...Array.from({ length: 300 }, () => "x".repeat(1024)))],
  ])("refuses %s", async (_what, answer) => {
    await expect(take(scripted([answer]), 1, { after: 0 })).rejects.toBeInstanceOf(ContractError);
  });

  it.each<[string, () => Scripted]>([
    ["while it waits for an answer", () => scripted([silence])],
    ["while nothing comes", () => scripted([connection("hang", begin(0))])],
    ["while it waits to connect again", () => scripted([connection("end", begin(0)), silence])],
  ])("ends without an error when the signal aborts %s", async (_when, open) => {
    const tape = open();
    const controller = new AbortController();
    tape.clock.after(1_999, () => {
      controller.abort();
    });
    expect(await take(tape, 1, { after: 0, signal: controller.signal })).toEqual([]);
    expect(tape.clock.pending).toBe(0);
  });

  it("sends nothing when the signal has aborted before, and gives nothing more once it has", async () => {
    const tape = scripted([connection("hang", begin(0), render(1) + render(2))]);
    expect(await take(tape, 1, { signal: AbortSignal.abort() })).toEqual([]);
    expect(tape.requests).toEqual([]);
    const controller = new AbortController();
    const seen: number[] = [];
    for await (const { data } of tape.client.events.follow({ after: 0, signal: controller.signal })) {
      seen.push(data.sequence);
      controller.abort();
    }
    expect(seen).toEqual([1]);
  });

  it("lets the connection go when nobody reads on", async () => {
    const tape = scripted([connection("hang", begin(0), render(1))]);
    await take(tape, 1, { after: 0 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(tape.clock.pending).toBe(0);
  });
});
