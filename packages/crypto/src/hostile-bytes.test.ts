import fc from "fast-check";
import { expect, it } from "vitest";
import { concatBytes, encodeU16 } from "./bytes.ts";
import { parseEntryStatement } from "./entry-statement.ts";
import { encodeEnvelope, parseEnvelope } from "./envelope.ts";
import { CryptoError } from "./errors.ts";
import { parseLadderStep } from "./ladder.ts";
import { parseMetadata, parsePaddedMetadata } from "./metadata.ts";
import { parseRecord } from "./vault-key-record.ts";
import { parseVersionStatement } from "./version-statement.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 20_000 : 500;

/** Noise of the lengths that a parser looks into, and of any other. */
const of = (...lengths: readonly number[]): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    ...lengths.map((length) => fc.uint8Array({ minLength: length, maxLength: length })),
    fc.uint8Array({ maxLength: 700 }),
  );

/** A record whose length fits its noise. */
const record = fc
  .tuple(fc.uint8Array({ minLength: 208, maxLength: 208 }), fc.uint8Array({ minLength: 1, maxLength: 300 }))
  // Of a time that an end can have.
  .map(([fixed, sealedKey]) =>
    concatBytes(fixed.fill(0, 40, 48), encodeU16(sealedKey.length), sealedKey, new Uint8Array(64)),
  );

/** A step from the highest place down, so that the parser goes on. */
const ladderStep = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array({ minLength: 152, maxLength: 152 }))
  .map(([vault, rest]) => concatBytes(vault, new Uint8Array(8).fill(255), new Uint8Array(8), rest.fill(0, 8, 16)));

/** Metadata whose first field is right, so that the parser goes on. */
const metadata = fc
  .tuple(fc.nat(260), fc.uint8Array({ maxLength: 520 }))
  .map(([length, rest]) => concatBytes(Uint8Array.of(1), encodeU16(length), rest));

const PARSERS: readonly (readonly [string, fc.Arbitrary<Uint8Array>, (bytes: Uint8Array) => object])[] = [
  ["a version statement", of(372, 404), parseVersionStatement],
  ["an entry statement", of(289, 321), parseEntryStatement],
  ["a record", fc.oneof(of(275, 500), record), parseRecord],
  ["a step of the ladder", fc.oneof(of(200), ladderStep), parseLadderStep],
  [
    "an envelope",
    fc.oneof(
      of(104, 275),
      record.map((bytes) => concatBytes(bytes, new Uint8Array(104))),
    ),
    parseEnvelope,
  ],
  ["metadata of a file", fc.oneof(of(64), metadata), (bytes) => parseMetadata("file", bytes)],
  ["padded metadata of a folder", fc.oneof(of(64, 128), metadata), (bytes) => parsePaddedMetadata("folder", bytes)],
];

it.each(PARSERS)("noise as %s is refused with a named step, or is what was read", (_, noise, parse) => {
  fc.assert(
    fc.property(noise, (bytes) => {
      const before = Uint8Array.from(bytes);
      try {
        const parsed = parse(bytes);
        if ("bytes" in parsed) expect(parsed.bytes).toEqual(before);
      } catch (error) {
        expect(error).toBeInstanceOf(CryptoError);
      }
      expect(bytes).toEqual(before);
    }),
    { numRuns: RUNS },
  );
});

it("what was parsed does not change with the buffer it came in", () => {
  fc.assert(
    fc.property(record, (bytes) => {
      const buffer = Buffer.concat([bytes, new Uint8Array(104).fill(3)]);
      const envelope = parseEnvelope(buffer);
      const before = encodeEnvelope(envelope);
      const vault = Uint8Array.from(envelope.record.vault);
      buffer.fill(0xee);
      expect(encodeEnvelope(envelope)).toEqual(before);
      expect(envelope.record.vault).toEqual(vault);
    }),
    { numRuns: RUNS / 10 },
  );
});
