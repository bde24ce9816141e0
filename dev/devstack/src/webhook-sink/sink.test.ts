import { once } from "node:events";
import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_KEPT } from "./deliveries.ts";
import { startWebhookSink, type WebhookSink } from "./sink.ts";
import { deliver, fileEvent, SECRET } from "./deliveries.test-kit.ts";

let sink: WebhookSink;
beforeEach(async () => {
  sink = await startWebhookSink();
  sink.trust(SECRET);
});
afterEach(() => sink.close());

const problems = () => sink.deliveries.all.map(({ problem }) => problem);

describe("a delivery", () => {
  it("that is signed and an event is taken and shown with its headers and its body", async () => {
    const payload = fileEvent();
    expect((await deliver(sink.hookUrl, payload, { messageId: "msg_a" })).status).toBe(204);
    const [kept] = sink.deliveries.all;
    expect(kept).toMatchObject({
      number: 1,
      method: "POST",
      path: "/hook",
      problem: null,
      messageId: "msg_a",
      copy: 1,
    });
    expect(kept).toMatchObject({ kind: "file.uploaded", sequence: 1, answered: "204" });
    expect(JSON.parse(kept?.body ?? "")).toEqual(payload);
    expect(kept?.headers).toMatchObject({ "webhook-id": "msg_a", "content-type": "application/json" });
  });

  it("that comes again is counted", async () => {
    for (let count = 0; count < 3; count += 1) await deliver(sink.hookUrl, fileEvent(), { messageId: "msg_a" });
    await deliver(sink.hookUrl, fileEvent());
    expect(sink.deliveries.all.map(({ copy }) => copy)).toEqual([1, 2, 3, 1]);
  });

  it("verifies with any of the secrets that the sink was given", async () => {
    const next = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
    sink.trust(next);
    for (const secret of [SECRET, next]) await deliver(sink.hookUrl, fileEvent(), { secret });
    expect(problems()).toEqual([null, null]);
  });

  it.each([
    ["signed with another secret", { secret: `whsec_${Buffer.alloc(32, 9).toString("base64")}` }, "no_match"],
    ["without headers", { headers: {} }, "missing_header"],
    [
      "from an hour ago",
      { headers: { "webhook-id": "msg_a", "webhook-timestamp": "1", "webhook-signature": "v1,AA" } },
      "too_old",
    ],
  ])("%s is refused and shown with the reason", async (_name, options, reason) => {
    expect((await deliver(sink.hookUrl, fileEvent(), options)).status).toBe(400);
    expect(problems()).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    ["no JSON", "{"],
    ["JSON that is no event", "[]"],
    ["an event of an unknown kind", { ...fileEvent(), type: "file.sung" }],
    ["an event whose object is another's", { ...fileEvent(), type: "vault.created" }],
  ])("that is signed but %s is refused", async (_name, payload) => {
    expect((await deliver(sink.hookUrl, payload)).status).toBe(400);
    expect(problems()).toEqual([expect.stringMatching(/event/)]);
  });

  it("before there is a secret is refused", async () => {
    await using other = await startWebhookSink();
    expect((await deliver(other.hookUrl, fileEvent())).status).toBe(400);
    expect(other.deliveries.all[0]?.problem).toContain("no secret");
  });

  it("that is too large is refused unkept", async () => {
    expect((await deliver(sink.hookUrl, "x".repeat(1024 * 1024 + 1))).status).toBe(413);
    expect(sink.deliveries.all[0]).toMatchObject({ body: "", problem: "the body is too large" });
    await deliver(sink.hookUrl, "x".repeat(1024 * 1024));
    expect(sink.deliveries.all[1]).toMatchObject({ bytes: 1024 * 1024, body: "x".repeat(32 * 1024) });
  });

  it("is let go when 500 younger ones came", async () => {
    for (let count = 0; count < MAX_KEPT + 3; count += 1) await deliver(sink.hookUrl, fileEvent());
    expect(sink.deliveries.all).toHaveLength(MAX_KEPT);
    expect(sink.deliveries.all[0]?.number).toBe(4);
  });
});

describe("what it answers", () => {
  it.each([
    ["500", 500, null],
    ["410", 410, null],
    ["429", 429, "2"],
  ] as const)("can be %s", async (answer, status, retryAfter) => {
    sink.answerWith(answer);
    const given = await deliver(sink.hookUrl, fileEvent());
    expect([given.status, given.headers.get("retry-after")]).toEqual([status, retryAfter]);
    expect(sink.deliveries.all[0]).toMatchObject({ problem: null, answered: answer });
  });

  it.each(["hang", "slow"] as const)("can be %s; the end of the sink does not wait for it", async (answer) => {
    sink.answerWith(answer);
    const given = deliver(sink.hookUrl, fileEvent());
    given.catch(() => undefined);
    while (sink.deliveries.all.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await sink.close();
    await expect(given).rejects.toThrow();
  });

  it("can be set from the page, and from no other page", async () => {
    const put = (body: string) => fetch(`${sink.pageUrl}answer`, { method: "PUT", body });
    expect((await put("500")).status).toBe(204);
    expect((await deliver(sink.hookUrl, fileEvent())).status).toBe(500);
    expect((await put("200")).status).toBe(400);
    // What a page of another origin may send unasked: POST (Fetch §2.2.1). Asked first, it gets no leave.
    expect((await fetch(`${sink.pageUrl}answer`, { method: "POST", body: "204" })).status).toBe(404);
    const preflight = await fetch(`${sink.pageUrl}answer`, {
      method: "OPTIONS",
      headers: { origin: "http://evil.test" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("the page and its data", () => {
  it("are given to who asks by the sink's own address only", async () => {
    for (const path of ["/", "/deliveries.json", "/live"]) {
      const asked = request(new URL(path, sink.pageUrl), { headers: { host: "rebound.example.test" } }).end();
      const [answer] = (await once(asked, "response")) as [{ statusCode: number; resume(): void }];
      answer.resume();
      expect(answer.statusCode).toBe(421);
    }
  });

  it("is one document that loads nothing and runs only its own script", async () => {
    const answer = await fetch(sink.pageUrl);
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; img-src data:; connect-src 'self';/,
    );
    expect(policy).not.toContain("unsafe");
    const html = await answer.text();
    expect(html).not.toMatch(/<(?:script|link|img|iframe)[^>]*(?:src|href)="(?!data:,")/);
    expect(html).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\son\w+=/);
  });

  it("lists what is kept as JSON", async () => {
    await deliver(sink.hookUrl, fileEvent());
    const listing: unknown = await (await fetch(`${sink.pageUrl}deliveries.json`)).json();
    expect(listing).toMatchObject({ answer: "204", deliveries: [{ number: 1, kind: "file.uploaded" }] });
  });

  it("tells what is kept and what arrives, and goes on where a page was cut off", async () => {
    await deliver(sink.hookUrl, fileEvent());
    await deliver(sink.hookUrl, fileEvent());
    const first = await follow({});
    const again = await follow({ "last-event-id": "1" });
    await deliver(sink.hookUrl, fileEvent());
    expect(await first(3)).toEqual([1, 2, 3]);
    expect(await again(2)).toEqual([2, 3]);
  });

  /** The numbers of the next so many deliveries. */
  async function follow(headers: Record<string, string>): Promise<(count: number) => Promise<number[]>> {
    const answer = await fetch(`${sink.pageUrl}live`, { headers });
    return async (count) => {
      let text = "";
      const numbers = () => Array.from(text.matchAll(/^id: (\d+)$/gm), ([, number]) => Number(number));
      for await (const chunk of answer.body ?? []) {
        text += new TextDecoder().decode(chunk);
        if (numbers().length >= count) break;
      }
      return numbers();
    };
  }
});
