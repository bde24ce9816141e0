import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ciphertextSize, MAX_PLAINTEXT_BYTES, paddedSize, plaintextSize } from "./sizes.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 20_000 : 500;
const plaintexts = fc.oneof(
  fc.integer({ min: 0, max: 70_000 }),
  fc.integer({ min: 0, max: MAX_PLAINTEXT_BYTES }),
  fc.integer({ min: 0, max: 2 ** 38 - 1 }).map((chunk) => chunk * 16384),
);

describe("file-format §3: sizes", () => {
  it("of a message and of its plaintext are each other's inverse", () => {
    fc.assert(
      fc.property(plaintexts, (size) => {
        const message = ciphertextSize(size);
        expect(Number.isSafeInteger(message)).toBe(true);
        expect(plaintextSize(message)).toBe(size);
        expect(message).toBe(56 + size + 16 * Number(BigInt(size) / 16384n + 1n));
      }),
      { numRuns: RUNS },
    );
  });

  it("grow by a tag where a chunk begins", () => {
    expect([0, 1, 16383, 16384, 16385, 32768].map(ciphertextSize)).toEqual([72, 73, 16455, 16472, 16473, 32872]);
  });

  it("no message ends in the first 16 bytes of a chunk", () => {
    for (const chunks of [0, 1, 2, 100, 2 ** 38 - 1])
      for (const rest of [0, 1, 15]) expect(() => plaintextSize(56 + chunks * 16400 + rest)).toThrow(RangeError);
    for (const short of [0, 1, 55, 56, 71]) expect(() => plaintextSize(short)).toThrow(RangeError);
  });

  it("end at 2^38 chunks, the last of them short", () => {
    expect(MAX_PLAINTEXT_BYTES).toBe(2 ** 52 - 1);
    expect(plaintextSize(ciphertextSize(MAX_PLAINTEXT_BYTES))).toBe(MAX_PLAINTEXT_BYTES);
    expect(() => ciphertextSize(MAX_PLAINTEXT_BYTES + 1)).toThrow(
      /has from 0 to 4503599627370495 bytes, not 4503599627370496/,
    );
    expect(() => plaintextSize(ciphertextSize(MAX_PLAINTEXT_BYTES) + 1)).toThrow(RangeError);
    expect(() => paddedSize(MAX_PLAINTEXT_BYTES)).toThrow(RangeError);
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 60])("%d is no size", (size) => {
    for (const sizeOf of [ciphertextSize, plaintextSize, paddedSize]) expect(() => sizeOf(size)).toThrow(RangeError);
  });
});

describe("file-format §3: padding", () => {
  const contents = fc
    .oneof(
      fc.integer({ min: 0, max: 70_000 }),
      fc.integer({ min: 0, max: 2 ** 51 }),
      fc.integer({ min: 4, max: 51 }).chain((bits) => fc.integer({ min: 2 ** bits - 20, max: 2 ** bits + 20 })),
    )
    .filter((size) => size >= 0);

  it("leaves room for the footer in the final chunk and costs little", () => {
    fc.assert(
      fc.property(contents, (size) => {
        const padded = paddedSize(size);
        expect(padded).toBeGreaterThanOrEqual(size + 8);
        expect(padded % 16384).toBeGreaterThanOrEqual(8);
        // Padmé's bound, and 8 bytes where the footer would have been cut.
        expect(padded).toBeLessThanOrEqual((size + 8) * 1.12 + 8);
      }),
      { numRuns: RUNS },
    );
  });

  it("never shrinks when the content grows", () => {
    fc.assert(
      fc.property(contents, (size) => {
        expect(paddedSize(size + 1)).toBeGreaterThanOrEqual(paddedSize(size));
      }),
      { numRuns: RUNS },
    );
  });

  it("is Padmé, computed with integers only", () => {
    fc.assert(
      fc.property(contents, (size) => {
        const length = BigInt(size) + 8n;
        const exponent = BigInt(length.toString(2).length - 1);
        const step = 1n << (exponent - BigInt(exponent.toString(2).length));
        const rounded = ((length + step - 1n) / step) * step;
        const left = rounded % 16384n;
        expect(paddedSize(size)).toBe(Number(left < 8n ? rounded + 8n - left : rounded));
      }),
      { numRuns: RUNS },
    );
  });

  it("many sizes share one length", () => {
    const lengths = new Set(Array.from({ length: 100_000 }, (_, size) => paddedSize(size)));
    expect(lengths.size).toBeLessThan(300);
  });
});
