import fc from "fast-check";
import { inspect } from "node:util";
import { renderInviteCode, renderKey } from "@coffer/contract";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { describe, expect, it } from "vitest";
import { SdkError } from "./errors.ts";
import { redactText, sanitizeCause } from "./redaction.ts";
import { Secret } from "./secret.ts";
import { sessionCredentials } from "../connection/session-credentials.ts";
import { ID, json, scripted } from "./transport.test-kit.ts";

const secretBytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
const key = secretBytes.map(renderKey);
const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url");
const jwt = fc
  .tuple(fc.uuid(), secretBytes)
  .map(([sub, mac]) => [`{"alg":"HS256"}`, JSON.stringify({ sub }), mac].map(base64url).join("."));
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const digit = fc.constantFrom(...CROCKFORD);

/** Every kind of secret that passes through a client, by what it is. */
const SECRETS = {
  "an API key": key,
  "an invite code": secretBytes.map(renderInviteCode),
  "an access token": jwt,
  "a refresh token, a mailed token or the secret of an invite": secretBytes.map(base64url),
  "a chain private key": secretBytes.map((seed) => Ed25519Keypair.fromSecretKey(seed).getSecretKey()),
  "a webhook's secret": secretBytes.map((secret) => `whsec_${Buffer.from(secret).toString("base64")}`),
  "an access code": fc
    .array(digit, { minLength: 20, maxLength: 20 })
    .map((digits) => digits.join("").replaceAll(/.{4}(?=.)/g, "$&-")),
} as const;

/** Every way in which a value becomes text in a log. */
function renderings(value: unknown): string {
  const inspected = [
    inspect(value),
    inspect(value, { showHidden: true, depth: 20 }),
    inspect({ value }, { depth: 20 }),
  ];
  const stack = value instanceof Error ? [value.stack ?? "", inspect(value.cause)] : [];
  return [...inspected, ...stack, String(value), JSON.stringify(value), JSON.stringify({ value })].join("\n");
}

describe("a key never shows", () => {
  it("in a Secret", () => {
    fc.assert(
      fc.property(key, (text) => {
        const secret = new Secret(text);
        expect(renderings(secret)).not.toContain(text);
        expect(renderings({ ...secret, nested: [secret] })).not.toContain(text);
        expect(secret.reveal()).toBe(text);
      }),
    );
  });

  it("in a client, or in any error whatever the server, the transport or a proxy repeats of it", async () => {
    await fc.assert(
      fc.asyncProperty(key, fc.integer({ min: 0, max: 3 }), async (text, kind) => {
        const echo = `Bearer ${text} and ${text}`;
        const leak = Object.assign(new TypeError(`failed for ${text}`), {
          request: { headers: { authorization: echo } },
          cause: new Error(echo),
        });
        const steps = [
          json({ error: echo }, 400, { "x-error-code": "validation_failed", "x-request-id": text }),
          new Response(echo, { status: 502 }),
          leak,
          json({ vault: { name: text } }),
        ];
        const { client } = scripted([steps[kind] ?? leak], { credentials: { apiKey: text }, retry: { limit: 0 } });
        expect(renderings(client)).not.toContain(text);
        const error: unknown = await client.vaults.get(ID).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(SdkError);
        expect(renderings(error)).not.toContain(text);
      }),
      { numRuns: 60 },
    );
  });
});

describe.each(Object.entries(SECRETS))("%s never shows", (_name, secret) => {
  it("in what a server, a transport or a proxy repeats of it", async () => {
    await fc.assert(
      fc.asyncProperty(secret, fc.integer({ min: 0, max: 2 }), async (text, kind) => {
        const echo = `the value "${text}" (${text}), token=${text}; ${text}.`;
        const leak = Object.assign(new TypeError(echo), { cause: new Error(echo), body: text });
        const steps = [json({ error: echo }, 400, { "x-error-code": "validation_failed" }), leak, new Response(echo)];
        const { client } = scripted([steps[kind] ?? leak], { retry: { limit: 0 } });
        const error: unknown = await client.vaults.get(ID).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(SdkError);
        expect(renderings(error)).not.toContain(text);
      }),
      { numRuns: 20 },
    );
  });
});

it("no token of a session shows in it, in a client that holds it, or in the errors of its renewal", async () => {
  await fc.assert(
    fc.asyncProperty(jwt, secretBytes.map(base64url), fc.integer({ min: 0, max: 2 }), async (access, refresh, kind) => {
      const session = sessionCredentials({ accessToken: access, refreshToken: refresh });
      const echo = `no: ${access} ${refresh}`;
      const refused = json({ error: echo }, 401, { "x-error-code": "invalid_credential" });
      const steps = [json({ error: echo }, 401, { "x-error-code": "session_ended" }), new Error(echo), json({ echo })];
      const renewal = steps[kind] ?? refused;
      const { client } = scripted([refused, renewal], { credentials: session });
      const error: unknown = await client.account.get().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "session_ended" });
      const shown = [session, client, error, { ...session }].map(renderings).join("\n");
      expect(shown).not.toContain(access);
      expect(shown).not.toContain(refresh);
    }),
    { numRuns: 30 },
  );
});

it("leaves digests, ids and names as they are", () => {
  const text = `${"ab01".repeat(16)} "sha256-${"Ab-1".repeat(10)}Abc" ${ID} report-2026-final.pdf, the chain ${"aB1".repeat(14)}c`;
  expect(redactText(text)).toBe(text);
});

it("keeps of a foreign error its name, message and code alone", () => {
  const inner = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", options: { password: "x" } });
  const safe = sanitizeCause(Object.assign(new TypeError("fetch failed", { cause: inner }), { request: {} }));
  expect({ ...safe, name: safe.name, message: safe.message }).toEqual({
    name: "Error",
    message: "connect ECONNREFUSED",
    code: "ECONNREFUSED",
  });
});

it("takes controls, direction marks and credentials in addresses out of foreign text, and cuts it", () => {
  expect(redactText("a\u001b[2Jb\u202ec http://me:pass@host/x")).toBe("a [2Jb c http://[redacted]@host/x");
  expect(redactText("x".repeat(900))).toHaveLength(501);
});
