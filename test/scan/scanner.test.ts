import { randomBytes } from "node:crypto";
import { renderKey } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { findSecrets, requireNoSecrets } from "../kit/secret-scan.ts";

const KEY = renderKey(randomBytes(32));
const TOKEN = randomBytes(32).toString("base64url");
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${randomBytes(32).toString("base64url")}`;
const PASSWORD = 'granite "otter" 71 länterns';
const ACCESS_CODE = "ABCD-EFGH-JKMN-PQRS-TVWX";
const SIGNING = `whsec_${randomBytes(32).toString("base64")}`;
const SECRETS = Object.entries({ KEY, TOKEN, JWT, PASSWORD, ACCESS_CODE, SIGNING }).map(([kind, text]) => ({
  kind,
  text,
}));

const around = (text: string | Uint8Array, before = 1000) => ({
  name: "place",
  bytes: Buffer.concat([randomBytes(before), Buffer.from(text as string), randomBytes(1000)]),
});

describe("the scanner finds a secret", () => {
  for (const { kind, text } of SECRETS) {
    const wide = Buffer.from(text, "utf16le");
    const base64 = (offset: number) => Buffer.from(`${"x".repeat(offset)}${text} and more`).toString("base64");
    const forms: Record<string, string | Uint8Array> = {
      "as it is": text,
      "in hex": Buffer.from(text).toString("hex"),
      "in upper-case hex": Buffer.from(text).toString("hex").toUpperCase(),
      "in JSON": JSON.stringify({ a: text }),
      "in JSON in JSON": JSON.stringify(JSON.stringify({ a: text })),
      "percent-encoded": encodeURIComponent(text),
      "form-encoded": new URLSearchParams({ a: text }).toString(),
      "in UTF-16": wide,
      "in big-endian UTF-16": Buffer.from(wide).swap16(),
      "in base64": base64(0),
      "in base64 after one byte": base64(1),
      "in base64 after two bytes": base64(2),
      "in base64url": Buffer.from(`x${text} and more`).toString("base64url"),
    };
    it.each(Object.entries(forms))(`${kind} %s`, (_form, written) => {
      for (const before of [0, 1, 2, 3, 1000]) {
        const found = findSecrets([{ kind, text }], [around(written, before)]);
        expect(found.map((finding) => finding.kind)).toContain(kind);
      }
    });
  }

  it("by the bytes it stands for, by its signature, by half of it, without its separators", () => {
    const traces = {
      TOKEN: Buffer.from(TOKEN, "base64url"),
      JWT: JWT.split(".")[2] ?? "",
      KEY: KEY.slice(0, 30),
      SIGNING: Buffer.from(SIGNING.slice("whsec_".length), "base64"),
      ACCESS_CODE: ACCESS_CODE.replaceAll("-", "").toLowerCase(),
    };
    for (const [kind, trace] of Object.entries(traces)) {
      expect(findSecrets(SECRETS, [around(trace)]).map((finding) => finding.kind)).toContain(kind);
    }
  });

  it("at the very end and the very beginning of a place", () => {
    for (const bytes of [Buffer.from(`${KEY}  `), Buffer.from(`  ${KEY}`), Buffer.from(KEY)]) {
      expect(findSecrets(SECRETS, [{ name: "place", bytes }])).not.toEqual([]);
    }
  });

  it("and never says it", () => {
    let said = "";
    try {
      requireNoSecrets(SECRETS, [around(KEY)]);
    } catch (error) {
      said = String(error);
    }
    expect(said).toMatch(/place at 1000: KEY \(raw\)/);
    expect(findSecrets(SECRETS, [{ name: "said", bytes: Buffer.from(said) }])).toEqual([]);
  });
});

it("the scanner finds a signing secret by its base64 alone", () => {
  expect(findSecrets(SECRETS, [around(SIGNING.slice("whsec_".length, -1))]).map(({ kind }) => kind)).toContain(
    "SIGNING",
  );
});

it("the scanner finds nothing where there is nothing", () => {
  const noise = { name: "noise", bytes: randomBytes(1 << 22) };
  const near = {
    name: "near",
    bytes: Buffer.from(`${KEY.slice(0, 20)} ${JWT.split(".", 2).join(".")} ABCD-EFGH granite`),
  };
  expect(findSecrets(SECRETS, [noise, near])).toEqual([]);
  expect(() => requireNoSecrets(SECRETS, [noise, near])).not.toThrow();
});
