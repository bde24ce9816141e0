import { crc32 } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KEY_SCANNING_REGEX } from "./key-form.ts";
import { isKeyText, renderKey } from "./key-text.ts";

const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("key text", () => {
  it("renders 43 digits of secret and 6 of checksum behind the prefix [D4-key-text S2.4-prefix]", () => {
    expect(renderKey(new Uint8Array(32))).toMatch(/^cof_0{43}[0-9A-Za-z]{6}$/);
    expect(renderKey(new Uint8Array(32).fill(255))).toMatch(/^cof_[0-9A-Za-z]{49}$/);
  });

  it("is one to one: the secret can be read back from the digits", () => {
    fc.assert(
      fc.property(secret, (bytes) => {
        const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        const body = renderKey(bytes).slice(4, 47);
        const value = [...body].reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n);
        expect(value).toBe(BigInt(`0x${Buffer.from(bytes).toString("hex")}`));
      }),
    );
  });

  it("carries the CRC-32 that zlib computes", () => {
    fc.assert(
      fc.property(secret, (bytes) => {
        const key = renderKey(bytes);
        const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        const checksum = [...key.slice(47)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
        expect(checksum).toBe(crc32(key.slice(4, 47)));
      }),
    );
  });

  it("accepts what it renders, and the scanning expression finds it in a text [D4-key-scanning]", () => {
    fc.assert(
      fc.property(secret, (bytes) => {
        const key = renderKey(bytes);
        expect(isKeyText(key)).toBe(true);
        expect(KEY_SCANNING_REGEX.exec(`SERVICE_API_KEY="${key}"\n`)?.[0]).toBe(key);
      }),
    );
  });

  it("rejects every single wrong digit", () => {
    const key = renderKey(new Uint8Array(32).map((_, index) => index * 7));
    for (let index = 4; index < key.length; index += 1) {
      const other = key[index] === "A" ? "B" : "A";
      expect(isKeyText(key.slice(0, index) + other + key.slice(index + 1))).toBe(false);
    }
  });

  it("accepts the legacy prefix, which had no checksum", () => {
    expect(isKeyText(`coffer_${"a".repeat(32)}`)).toBe(true);
    expect(isKeyText("coffer_short")).toBe(false);
    expect(isKeyText(`other_${"a".repeat(49)}`)).toBe(false);
  });

  it("refuses a secret of another length", () => {
    expect(() => renderKey(new Uint8Array(31))).toThrow(RangeError);
  });
});
