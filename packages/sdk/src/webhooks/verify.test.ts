import { isEventKind } from "@coffer/contract";
import { build } from "esbuild";
import fc from "fast-check";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { Webhook as Reference } from "standardwebhooks";
import { Webhook as Svix } from "svix";
import { describe, expect, it } from "vitest";
import { isEvent, isKnownEvent, verifyWebhook, WebhookVerificationError, type Delivered } from "./index.ts";

const PAYLOADS = process.env["COFFER_TEST_COUNTS"] === "full" ? 10_000 : 300;
const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const NOW = Date.UTC(2026, 10, 21, 22);
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const EVENT = {
  type: "file.uploaded",
  timestamp: "2026-11-21T22:00:00.000Z",
  data: {
    accountId: ID,
    sequence: 7,
    actor: { type: "api-key", id: ID, chainAddress: null },
    object: { type: "file", id: ID, vaultId: ID, folderId: null, versionId: ID, size: 9, encrypted: false },
  },
};
const BODY = JSON.stringify(EVENT);

function sign(secret: string, id: string, seconds: number | string, body: string): string {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  return `v1,${createHmac("sha256", key)
    .update(`${id}.${String(seconds)}.${body}`)
    .digest("base64")}`;
}

function headersOf(seconds: number | string = NOW / 1000, body = BODY, secrets = [SECRET]): Record<string, string> {
  return {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(seconds),
    "webhook-signature": secrets.map((secret) => sign(secret, "msg_1", seconds, body)).join(" "),
  };
}

const delivered = (more: Partial<Delivered> = {}): Delivered => ({
  body: BODY,
  headers: headersOf(),
  secrets: SECRET,
  now: () => NOW,
  ...more,
});

async function reasonOf(more: Partial<Delivered>): Promise<string> {
  try {
    await verifyWebhook(delivered(more));
    return "verified";
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}

describe("verifying a webhook", () => {
  it("gives the event of a body as text, bytes, a view on more bytes, or a buffer", async () => {
    const bytes = new TextEncoder().encode(BODY);
    const padded = new Uint8Array(bytes.length + 20);
    padded.set(bytes, 10);
    for (const body of [BODY, bytes, Buffer.from(BODY), padded.subarray(10, 10 + bytes.length), bytes.buffer])
      expect(await verifyWebhook(delivered({ body }))).toEqual(EVENT);
  });

  it("takes headers of fetch and of Node, in any case", async () => {
    const plain = headersOf();
    const upper = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name.toUpperCase(), value]));
    const arrays = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, [value]]));
    for (const headers of [new Headers(plain), upper, arrays, { ...plain, cookie: undefined }])
      expect(await reasonOf({ headers })).toBe("verified");
  });

  it("takes a secret with or without whsec_, and refuses what holds no key without repeating it", async () => {
    expect(await reasonOf({ secrets: SECRET.slice(6) })).toBe("verified");
    for (const secrets of [[], "", "whsec_", "whsec_päss", [SECRET, "not base64!"]]) {
      const failed: unknown = await verifyWebhook(delivered({ secrets })).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(TypeError);
      expect(String(failed)).not.toMatch(/päss|not base64!/);
    }
  });

  it("takes any of several signatures with any of several secrets [D6-rotate-secret]", async () => {
    const both = headersOf(undefined, BODY, [SECRET, OTHER]);
    for (const secrets of [SECRET, OTHER, [OTHER, SECRET]])
      expect(await reasonOf({ headers: both, secrets })).toBe("verified");
    expect(await reasonOf({ secrets: [OTHER, SECRET] })).toBe("verified");
    expect(await reasonOf({ secrets: OTHER })).toBe("no_match");
    expect(await reasonOf({ secrets: [OTHER, OTHER] })).toBe("no_match");
  });

  it("looks at no signature of another version", async () => {
    const signature = headersOf()["webhook-signature"] ?? "";
    const withSignature = (text: string) => ({ headers: { ...headersOf(), "webhook-signature": text } });
    expect(await reasonOf(withSignature(`v1a,AAAA v2,BBBB ${signature}`))).toBe("verified");
    for (const text of [signature.replace("v1,", "v1a,"), signature.slice(3), "v1,", "v1", ",", " "])
      expect(await reasonOf(withSignature(text))).toBe("no_match");
  });

  it("says which header is missing or wrong", async () => {
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
      const { [name]: _missing, ...rest } = headersOf();
      expect(await reasonOf({ headers: rest })).toBe("missing_header");
      expect(await reasonOf({ headers: { ...rest, [name]: "" } })).toBe("missing_header");
    }
    for (const text of ["soon", "1e9", "-5", "1.5", "0x10", `${String(NOW / 1000)} `, "1".repeat(13)])
      expect(await reasonOf({ headers: headersOf(text) })).toBe("bad_timestamp");
  });

  it("keeps to the tolerance to the second: five minutes unless told otherwise", async () => {
    const at = (now: number, toleranceSeconds?: number) => reasonOf({ now: () => now, toleranceSeconds });
    expect(await at(NOW + 300_999)).toBe("verified");
    expect(await at(NOW + 301_000)).toBe("too_old");
    expect(await at(NOW - 300_000)).toBe("verified");
    expect(await at(NOW - 300_001)).toBe("too_new");
    expect(await at(NOW + 10_999, 10)).toBe("verified");
    expect(await at(NOW + 11_000, 10)).toBe("too_old");
    expect(await at(NOW, 0)).toBe("verified");
    expect(await at(NOW - 1, 0)).toBe("too_new");
    // No number: nothing is timely.
    expect(await at(NOW, Number.NaN)).not.toBe("verified");
  });

  it("does not look at the signature of what came too late, and checks the time as it was signed", async () => {
    const late = headersOf(NOW / 1000 - 400);
    expect(await reasonOf({ headers: late })).toBe("too_old");
    expect(await reasonOf({ headers: { ...late, "webhook-timestamp": String(NOW / 1000) } })).toBe("no_match");
  });

  it("asks for the raw body when it is given a parsed one", async () => {
    for (const body of [EVENT, [], null, undefined, 5, true]) {
      const failed = verifyWebhook(delivered({ body: body as unknown as string }));
      await expect(failed).rejects.toMatchObject({ name: "WebhookVerificationError", reason: "bad_payload" });
      await expect(failed).rejects.toThrow(/raw body/);
    }
  });

  it("refuses a body that is signed but no event", async () => {
    const { data } = EVENT;
    const bodies = [
      ...["", "{", "null", "5", '"text"', "[]", "{}"],
      ...[
        { ...EVENT, type: 5 },
        { ...EVENT, timestamp: undefined },
        { ...EVENT, data: null },
      ].map((each) => JSON.stringify(each)),
      ...[{ sequence: 1.5 }, { accountId: null }, { actor: "me" }, { object: [] }, { object: {} }].map((more) =>
        JSON.stringify({ ...EVENT, data: { ...data, ...more } }),
      ),
    ];
    for (const body of bodies)
      expect(await reasonOf({ body, headers: headersOf(undefined, body) })).toBe("bad_payload");
  });

  it("refuses signed bytes that are no text", async () => {
    const body = Uint8Array.of(0x7b, 0xff, 0x7d);
    const key = Buffer.from(SECRET.slice(6), "base64");
    const mac = createHmac("sha256", key)
      .update(`msg_1.${String(NOW / 1000)}.`)
      .update(body);
    const headers = { ...headersOf(), "webhook-signature": `v1,${mac.digest("base64")}` };
    expect(await reasonOf({ body, headers })).toBe("bad_payload");
  });

  it("passes kinds that it does not know, and narrows those that it does", async () => {
    const later = {
      ...EVENT,
      type: "galaxy.moved",
      data: { ...EVENT.data, object: { type: "galaxy", id: ID, arms: 2 } },
    };
    const body = JSON.stringify(later);
    const unknown = await verifyWebhook(delivered({ body, headers: headersOf(undefined, body) }));
    expect(unknown).toEqual(later);
    expect(isKnownEvent(unknown) || isEvent(unknown, "file.uploaded")).toBe(false);
    const event = await verifyWebhook(delivered());
    expect(isKnownEvent(event) && isEventKind(event.type)).toBe(true);
    if (!isEvent(event, "file.uploaded", "file.updated")) throw new Error("is a file's");
    expect(event.data.object.versionId).toBe(ID);
  });

  it("holds no secret, signature or body in its errors", async () => {
    const failed: unknown = await verifyWebhook(delivered({ secrets: OTHER })).catch((error: unknown) => error);
    const text = `${String(failed)} ${JSON.stringify(failed)} ${(failed as Error).stack ?? ""}`;
    expect(text).not.toContain(OTHER.slice(6, 30));
    expect(text).not.toContain((headersOf()["webhook-signature"] ?? "").slice(3, 30));
    expect(text).not.toContain(ID);
  });
});

/** Only what browsers, workers, Deno and Bun have in common, and classes of its own: bytes come from another realm. */
async function verifyElsewhere(delivered: Record<string, unknown>): Promise<unknown> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "index.ts")],
    bundle: true,
    format: "iife",
    globalName: "sdk",
    platform: "neutral",
    write: false,
    conditions: ["coffer-source"],
  });
  const scope = { atob, btoa, crypto, TextDecoder, TextEncoder, delivered };
  return runInNewContext(`${outputFiles[0]?.text ?? ""}; sdk.verifyWebhook(delivered)`, scope);
}

describe("outside Node", () => {
  it("needs WebCrypto, base64 and text coding, and nothing else", async () => {
    const known = { headers: new Headers(headersOf()), secrets: [SECRET], now: () => NOW };
    for (const body of [BODY, new TextEncoder().encode(BODY), new TextEncoder().encode(BODY).buffer])
      expect(JSON.stringify(await verifyElsewhere({ ...known, body }))).toBe(BODY);
    await expect(verifyElsewhere({ ...known, body: `${BODY} ` })).rejects.toMatchObject({ reason: "no_match" });
    await expect(verifyElsewhere({ ...known, body: EVENT })).rejects.toMatchObject({ reason: "bad_payload" });
  });
});

describe("against the reference libraries", () => {
  const seconds = Math.floor(Date.now() / 1000);
  const date = new Date(seconds * 1000);
  const arbitrary = fc.record({
    secret: fc
      .uint8Array({ minLength: 24, maxLength: 64 })
      .map((key) => `whsec_${Buffer.from(key).toString("base64")}`),
    id: fc.stringMatching(/^msg_[0-9a-f]{32}$/),
    note: fc.string({ unit: "binary", maxLength: 200 }),
    spaced: fc.boolean(),
  });

  it("verifies what they sign, and they what it would [D6-headers]", async () => {
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(arbitrary, async ({ secret, id, note, spaced }) => {
        const body = JSON.stringify({ ...EVENT, note }, null, spaced ? 2 : undefined);
        const reference = new Reference(secret).sign(id, date, body);
        expect(new Svix(secret).sign(id, date, body)).toBe(reference);
        expect(sign(secret, id, seconds, body)).toBe(reference);
        const headers = { "webhook-id": id, "webhook-timestamp": String(seconds), "webhook-signature": reference };
        const event = await verifyWebhook({ body, headers, secrets: secret });
        expect(event).toEqual(new Reference(secret).verify(body, headers));
        checked += 1;
      }),
      { numRuns: PAYLOADS },
    );
    expect(checked).toBe(PAYLOADS);
  });

  it("refuses whatever has one byte changed, anywhere", async () => {
    const whole = headersOf(seconds);
    const attempt = async (body: Uint8Array, headers: Record<string, string>): Promise<void> => {
      await expect(verifyWebhook({ body, headers, secrets: SECRET })).rejects.toBeInstanceOf(WebhookVerificationError);
    };
    const bytes = Buffer.from(BODY);
    await expect(verifyWebhook({ body: bytes, headers: whole, secrets: SECRET })).resolves.toEqual(EVENT);
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ (1 << (index % 8));
      await attempt(changed, whole);
      await attempt(Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + 1)]), whole);
    }
    await attempt(Buffer.concat([bytes, Buffer.from(" ")]), whole);
    for (const [name, value] of Object.entries(whole)) {
      for (let index = 0; index < value.length; index += 1) {
        for (const bit of [1, 2, 4, 16]) {
          const other = String.fromCharCode(value.charCodeAt(index) ^ bit);
          await attempt(bytes, { ...whole, [name]: value.slice(0, index) + other + value.slice(index + 1) });
        }
      }
    }
  });
});
