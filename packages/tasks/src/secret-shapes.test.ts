import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { renderKey } from "@coffer/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedaction } from "./redaction.ts";
import { holdsKnownKey } from "./secret-shapes.ts";

const letters = (count: number, letter = "a"): string => letter.repeat(count);
const key = renderKey(new Uint8Array(32).fill(7));

describe("holdsKnownKey", () => {
  it.each([
    ["an API key", key],
    ["an invite", `cofi_${letters(30)}`],
    ["a chain key", `suiprivkey1${letters(60)}`],
    ["a webhook's secret", `whsec_${letters(32)}`],
    ["a PEM key", `-----BEGIN OPENSSH PRIVATE KEY-----\n${letters(70, "b")}`],
    ["a PGP key", `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${letters(70, "b")}`],
    ["AWS", `AKIA${letters(16, "A")}`],
    ["GitHub", `ghp_${letters(36)}`],
    ["GitHub, fine-grained", `github_pat_${letters(70)}`],
    ["GitLab", `glpat-${letters(20)}`],
    ["Slack", `xoxb-${letters(24)}`],
    ["Stripe", `sk_live_${letters(24)}`],
    ["Anthropic", `sk-ant-${letters(60)}`],
    ["OpenAI", `sk-proj-${letters(60)}`],
    ["Google", `AIza${letters(35)}`],
    ["npm", `npm_${letters(36)}`],
    ["Hugging Face", `hf_${letters(34)}`],
    ["age", `AGE-SECRET-KEY-1${letters(58, "Q")}`],
  ])("finds the key of: %s", (_issuer, secret) => {
    expect(holdsKnownKey(Buffer.from(`{"token":"${secret}"}`))).toBe(true);
    expect(holdsKnownKey(Buffer.from(`{"token":"${secret}"}`, "utf16le"))).toBe(true);
    expect(holdsKnownKey(Buffer.from(`{"token":"${secret.slice(0, 8)}…"}`))).toBe(false);
  });

  it("raises no false alarm on the sources and documents of this project", () => {
    const root = join(import.meta.dirname, "../../..");
    const files = globSync(["docs/**/*.md", "packages/*/src/**/*.ts", "dev/*/src/**/*.ts", "server/src/**/*.ts"], {
      cwd: root,
    }).filter((path) => !path.includes("node_modules") && !path.endsWith(".test.ts"));
    expect(files.length).toBeGreaterThan(300);
    // npm start stores docs/ through the tools, and nothing of it may be left out.
    expect(files.filter((path) => holdsKnownKey(readFileSync(join(root, path))))).toEqual([]);
  });
});

describe("a registered secret", () => {
  const redaction = createRedaction();
  redaction.register(key);

  it.each(["base64", "base64url", "hex"] as const)("is found and redacted in %s, wherever it begins", (encoding) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 9 }), fc.uint8Array({ maxLength: 9 }), (before, after) => {
        const bytes = Buffer.concat([before, Buffer.from(key), after]);
        const frame = JSON.stringify({ text: bytes.toString(encoding) });
        expect(redaction.redact(frame)).toContain("[redacted]");
        expect(JSON.parse(redaction.redact(frame))).toBeTypeOf("object");
        expect(redaction.finds(Buffer.from(frame))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
