import fc from "fast-check";
import { expect, it } from "vitest";
import { fromBase64, fromBase64Portably, toBase64 } from "./digest.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

it("base64 is one text for the same bytes, with Node's help and without", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      const text = toBase64(Buffer.concat([Buffer.alloc(3), bytes]).subarray(3));
      expect(text).toBe(btoa(String.fromCharCode(...bytes)));
      expect(fromBase64(text)).toEqual(bytes);
      expect(fromBase64Portably(text)).toEqual(bytes);
    }),
    { numRuns: FULL ? 5000 : 200 },
  );
});

it("what is no base64, or another form of it, is refused by both alike", () => {
  for (const text of [
    "A",
    "AA",
    "AAA",
    "AB==",
    "AAB=",
    "A===",
    "====",
    "AA==AA==",
    "AA= =",
    " AA==",
    "AA==\n",
    "_-8=",
    "AAé=",
  ])
    expect([fromBase64(text), fromBase64Portably(text)], text).toEqual([null, null]);
  fc.assert(
    fc.property(fc.string({ maxLength: 12, unit: fc.constantFrom(..."AQgBw048+/=_- \n") }), (text) => {
      expect(fromBase64(text)).toEqual(fromBase64Portably(text));
    }),
    { numRuns: FULL ? 50_000 : 1000 },
  );
});
