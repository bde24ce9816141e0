import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemRandom } from "../../ports/random.ts";
import { mintSecret, signMessage, webhookHeaders } from "./signing.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const RUNS = FULL ? 10_000 : 300;
const NOW = Date.UTC(2026, 10, 20, 17, 0, 0, 999);

// The reference libraries read the system's clock; 300 s to either side are within their tolerance.
beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: NOW }));
afterEach(() => void vi.useRealTimers());

/** JSON as it is sent, and text of every other kind. Lone surrogates are not among it: JSON escapes them. */
const body = fc.oneof(
  fc.json({ stringUnit: "binary" }),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
);
const secret = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((key) => `whsec_${Buffer.from(key).toString("base64")}`);
const messageId = fc.uuid().map((id) => `msg_${id.replaceAll("-", "")}`);
const now = fc.integer({ min: NOW - 299_000, max: NOW + 299_000 });

/** What both reference libraries say of a request. */
function isVerified(holder: string, content: string, headers: Record<string, string>): boolean {
  const verdicts = [
    () => new Webhook(holder).verify(content, headers, { jsonParse: false }),
    () => new SvixWebhook(holder).verify(content, headers),
  ].map((verify) => {
    try {
      verify();
      return true;
    } catch {
      return false;
    }
  });
  expect(new Set(verdicts).size, "the libraries agree").toBe(1);
  return verdicts[0] === true;
}

describe("signatures of webhooks", () => {
  it("equal those of standardwebhooks and svix, and verify with both", () => {
    fc.assert(
      fc.property(messageId, now, body, secret, (id, at, content, held) => {
        const headers = webhookHeaders({ messageId: id, now: at, body: content, secrets: [held] });
        const signature = headers["webhook-signature"];
        expect(signature).toBe(new Webhook(held).sign(id, new Date(at), content));
        expect(signature).toBe(new SvixWebhook(held).sign(id, new Date(at), content));
        expect(isVerified(held, content, headers)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("verify with either secret while there are two, and with no other", () => {
    fc.assert(
      fc.property(messageId, now, body, secret, secret, secret, (id, at, content, newest, previous, other) => {
        fc.pre(new Set([newest, previous, other]).size === 3);
        const headers = webhookHeaders({ messageId: id, now: at, body: content, secrets: [newest, previous] });
        expect(isVerified(newest, content, headers)).toBe(true);
        expect(isVerified(previous, content, headers)).toBe(true);
        expect(isVerified(other, content, headers)).toBe(false);
        const after = webhookHeaders({ messageId: id, now: at, body: content, secrets: [newest] });
        expect(isVerified(previous, content, after)).toBe(false);
      }),
      { numRuns: FULL ? 2_000 : 100 },
    );
  });

  it("do not verify when anything that is signed was changed", () => {
    const held = mintSecret(systemRandom);
    const headers = webhookHeaders({ messageId: "msg_1", now: NOW, body: "{}", secrets: [held] });
    expect(isVerified(held, "{}", headers)).toBe(true);
    expect(isVerified(held, "{ }", headers)).toBe(false);
    expect(isVerified(held, "{}", { ...headers, "webhook-id": "msg_2" })).toBe(false);
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    expect(isVerified(held, "{}", { ...headers, "webhook-timestamp": later })).toBe(false);
  });

  it("are those of a known message", () => {
    // From the tests of github.com/standard-webhooks/standard-webhooks.
    const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330, body: '{"test": 2432232314}' };
    expect(signMessage(message, ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])).toBe(
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    );
  });

  it("are never left out for want of a secret, and no error repeats one", () => {
    const message = { id: "msg_1", timestamp: 1, body: "{}" };
    expect(() => signMessage(message, [])).toThrow("needs a secret");
    for (const bad of ["", "whsec_", "whsec_!", "c2VjcmV0LXNlY3JldA=="]) {
      expect(() => signMessage(message, [bad])).toThrow(/^A webhook's secret is whsec_ and a key in base64$/);
    }
  });
});

it("[D6-headers] an attempt carries its type, its sender, its id, its second and one signature per secret", () => {
  const secrets = [mintSecret(systemRandom), mintSecret(systemRandom)];
  const headers = webhookHeaders({ messageId: "msg_1", now: NOW, body: "{}", secrets });
  expect(headers).toEqual({
    "content-type": "application/json",
    "user-agent": "coffer-webhooks/1",
    "webhook-id": "msg_1",
    "webhook-timestamp": String((NOW - 999) / 1000),
    "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/),
  });
});

it("secrets are whsec_ and 32 bytes of the given chance", () => {
  const bytes = (length: number) => new Uint8Array(length).fill(0xa5);
  expect(mintSecret({ bytes })).toBe(`whsec_${Buffer.alloc(32, 0xa5).toString("base64")}`);
  expect(mintSecret(systemRandom)).not.toBe(mintSecret(systemRandom));
  expect(mintSecret(systemRandom)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
});
