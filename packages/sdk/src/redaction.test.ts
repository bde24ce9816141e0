import fc from "fast-check";
import { inspect } from "node:util";
import { renderKey } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { SdkError } from "./errors.ts";
import { redactText, sanitizeCause } from "./redaction.ts";
import { Secret } from "./secret.ts";
import { ID, json, scripted } from "./test-transport.ts";

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(renderKey);

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
