import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concatBytes, encodeText, encodeU16, encodeU64 } from "./bytes.ts";
import { decryptMetadata, ENCRYPTED_METADATA_SIZES, encryptMetadata, type MetadataContext } from "./entry-metadata.ts";
import { nameProblem } from "./item-name.ts";
import {
  encodeMetadata,
  encodePaddedMetadata,
  METADATA_SIZES,
  parseMetadata,
  parsePaddedMetadata,
  type Metadata,
} from "./metadata.ts";
import { nameIndex, plainNameIndex } from "./name-index.ts";
import { nodePlatform } from "./node/platform.ts";
import { webPlatform } from "./platform/web.ts";
import { at, bitFlips, failureOf, FILE_ID, FOLDER_ID, VAULT } from "./vault.test-kit.ts";
import { VaultKey } from "./vault-key.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 1000 : 100;
const name = fc
  .string({ unit: "binary", minLength: 1, maxLength: 60 })
  .map((text) => text.normalize("NFC"))
  .filter((text) => nameProblem(text) === null);
const contentType = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 245 });
const file: fc.Arbitrary<Metadata> = fc.record({ name, contentType, size: fc.maxSafeNat() });

const REPORT: Metadata = { name: "Bericht für März.pdf", contentType: "application/pdf", size: 123_456 };
const FOLDER: Metadata = { name: "Ordner", contentType: "", size: 0 };
const KEY = new VaultKey(VAULT, at(5n), new Uint8Array(32).fill(1));
const PLACE: MetadataContext = { kind: "file", id: FILE_ID, revision: 1n, keyId: new Uint8Array(32).fill(2) };

/** Fields as nobody here would encode them. */
function encoded(fields: { version?: number; name?: Uint8Array; type?: Uint8Array; size?: bigint }): Uint8Array {
  const { version = 1, name: nameBytes = encodeText("a"), type = encodeText("a/b"), size = 1n } = fields;
  const lengths = [encodeU16(nameBytes.length), Uint8Array.of(type.length)] as const;
  return concatBytes(Uint8Array.of(version), lengths[0], nameBytes, lengths[1], type, encodeU64(size));
}

describe("metadata", () => {
  it("comes back from its one encoding, padded and plain", () => {
    fc.assert(
      fc.property(file, (metadata) => {
        expect(parseMetadata("file", encodeMetadata("file", metadata))).toEqual(metadata);
        const padded = encodePaddedMetadata("file", metadata);
        expect(METADATA_SIZES).toContain(padded.length);
        expect(parsePaddedMetadata("file", padded)).toEqual(metadata);
      }),
      { numRuns: RUNS },
    );
    expect(parseMetadata("folder", encodeMetadata("folder", FOLDER))).toEqual(FOLDER);
  });

  it("fits 512 bytes with the longest name and content type, and is padded to the smallest size that holds it", () => {
    const longest = { name: "n".repeat(255), contentType: "t".repeat(245), size: Number.MAX_SAFE_INTEGER };
    expect(encodePaddedMetadata("file", longest).length).toBe(512);
    const sizeFor = (length: number): number =>
      encodePaddedMetadata("file", { name: "n".repeat(length), contentType: "t", size: 0 }).length;
    expect([1, 51, 52, 115, 116, 243, 244, 255].map(sizeFor)).toEqual([64, 64, 128, 128, 256, 256, 512, 512]);
  });

  // Unicode 17.0 sorts the marks of the first seven in another order than 16.0, which does not know them. The eighth is
  // not in NFC anywhere.
  it.each([
    ...["a\u1acf\u0316", "a\u0315\u1add", "a\u1ae0\u0316", "a\u1aeb\u0315", "a\u{10efa}\u0301", "a\u{10efb}\u0301"],
    ...["a\u{1e6e3}\u0316", "e\u0301"],
  ])(
    "are readable as they are, whatever this runtime's Unicode makes of the name %j (file-format §9) [M15]",
    (given) => {
      const bytes = encoded({ name: encodeText(given) });
      expect(parseMetadata("file", bytes).name).toBe(given);
      // Who encrypts them again, for a rotation or a move, changes no name.
      expect(encodeMetadata("file", parseMetadata("file", bytes))).toEqual(bytes);
      expect(nameIndex(KEY, null, given)).toEqual(nameIndex(KEY, null, given.normalize("NFC")));
    },
  );

  it("is refused in any other encoding", async () => {
    const wrong: Record<string, Uint8Array> = {
      empty: new Uint8Array(0),
      "a name that is not UTF-8": encoded({ name: Uint8Array.of(0xff) }),
      "a surrogate": encoded({ name: Uint8Array.of(0xed, 0xa0, 0x80) }),
      "a control character": encoded({ name: encodeText("a\n") }),
      "a byte order mark in front": encoded({ name: encodeText("\ufeffa") }),
      "256 bytes of name": encoded({ name: encodeText("n".repeat(256)) }),
      "a content type of control characters": encoded({ type: Uint8Array.of(0x0a) }),
      "a content type that is not ASCII": encoded({ type: Uint8Array.of(0xe9) }),
      "246 bytes of content type": encoded({ type: encodeText("t".repeat(246)) }),
      "513 bytes": new Uint8Array(513),
    };
    for (const [what, bytes] of Object.entries(wrong))
      expect([what, await failureOf(() => parseMetadata("file", bytes))]).toEqual([what, "metadata damaged"]);
    const whole = encoded({});
    for (let length = 0; length < whole.length; length += 1)
      expect(await failureOf(() => parseMetadata("file", whole.subarray(0, length)))).toBe("metadata damaged");
    expect(await failureOf(() => parseMetadata("folder", whole))).toBe("metadata damaged");
    expect(await failureOf(() => parseMetadata("file", encodeMetadata("folder", FOLDER)))).toBe("metadata damaged");
  });

  it("is refused with padding of another length, or that is not zeros", async () => {
    const padded = encodePaddedMetadata("file", REPORT);
    const longer = concatBytes(padded, new Uint8Array(64));
    const shorter = padded.subarray(0, -1);
    const marked = Uint8Array.from(padded).fill(1, 63);
    for (const wrong of [longer, shorter, marked, encodeMetadata("file", REPORT)])
      expect(await failureOf(() => parsePaddedMetadata("file", wrong))).toBe("metadata damaged");
  });

  it("is not encoded when its kind cannot have it", () => {
    for (const wrong of [
      { ...REPORT, name: "" },
      { ...REPORT, name: "\ud800" },
      { ...REPORT, contentType: "" },
      { ...REPORT, contentType: "t".repeat(246) },
      { ...REPORT, size: -1 },
      { ...REPORT, size: 1.5 },
    ])
      expect(() => encodeMetadata("file", wrong)).toThrow(RangeError);
    expect(() => encodeMetadata("folder", { ...FOLDER, size: 1 })).toThrow(RangeError);
    expect(() => encodeMetadata("folder", { ...FOLDER, contentType: "a/b" })).toThrow(RangeError);
  });
});

describe("encrypted metadata", () => {
  it("opens where it was made for, on either platform, and shows one of four sizes", async () => {
    const encrypted = await encryptMetadata(webPlatform, KEY, PLACE, REPORT);
    expect(ENCRYPTED_METADATA_SIZES).toContain(encrypted.length);
    expect(await decryptMetadata(nodePlatform, KEY, PLACE, encrypted)).toEqual(REPORT);
    const folder = { ...PLACE, kind: "folder" } as const;
    const other = await encryptMetadata(nodePlatform, KEY, folder, FOLDER);
    expect(await decryptMetadata(webPlatform, KEY, folder, other)).toEqual(FOLDER);
  });

  it("opens nowhere else: another key, vault, record, kind, id or revision", async () => {
    const encrypted = await encryptMetadata(webPlatform, KEY, PLACE, REPORT);
    const places: MetadataContext[] = [
      { ...PLACE, kind: "folder" },
      { ...PLACE, id: FOLDER_ID },
      { ...PLACE, revision: 2n },
      { ...PLACE, keyId: new Uint8Array(32).fill(3) },
    ];
    for (const place of places)
      expect(await failureOf(() => decryptMetadata(webPlatform, KEY, place, encrypted))).toBe("metadata wrong_key");
    const keys = [
      new VaultKey(VAULT, at(5n), new Uint8Array(32)),
      new VaultKey(new Uint8Array(32), at(5n), KEY.reveal()),
    ];
    for (const key of keys)
      expect(await failureOf(() => decryptMetadata(webPlatform, key, PLACE, encrypted))).toBe("metadata wrong_key");
  });

  it("is refused when one bit is another, cut, and continued", async () => {
    const encrypted = await encryptMetadata(nodePlatform, KEY, PLACE, REPORT);
    for (const flipped of bitFlips(encrypted))
      expect(await failureOf(() => decryptMetadata(nodePlatform, KEY, PLACE, flipped))).toMatch(
        /^metadata (wrong_key|damaged)$/,
      );
    for (const wrong of [encrypted.subarray(1), concatBytes(encrypted, new Uint8Array(64)), new Uint8Array(0)])
      expect(await failureOf(() => decryptMetadata(nodePlatform, KEY, PLACE, wrong))).toMatch(/^metadata/);
  });
});

describe("a name's index", () => {
  it("is the same for one name in one folder, however it is composed, and another one everywhere else", () => {
    const index = nameIndex(KEY, FOLDER_ID, "\u00e9");
    expect(index.length).toBe(16);
    expect(nameIndex(KEY, FOLDER_ID, "e\u0301")).toEqual(index);
    const others = [
      nameIndex(KEY, FOLDER_ID, "\u00c9"),
      nameIndex(KEY, FILE_ID, "\u00e9"),
      nameIndex(KEY, null, "\u00e9"),
      nameIndex(new VaultKey(VAULT, at(5n), new Uint8Array(32)), FOLDER_ID, "\u00e9"),
      plainNameIndex(FOLDER_ID, "\u00e9"),
      plainNameIndex(null, "\u00e9"),
    ];
    expect(new Set([index, ...others].map((bytes) => bytes.join())).size).toBe(7);
    expect(plainNameIndex(FOLDER_ID, "e\u0301")).toEqual(plainNameIndex(FOLDER_ID, "\u00e9"));
  });

  it("is HMAC-SHA-256 as others compute it, for names of any length", () => {
    for (const length of [0, 1, 47, 48, 49, 111, 112, 255]) {
      const name = "n".repeat(length);
      const message = concatBytes(new Uint8Array(16), encodeText(name));
      expect(nameIndex(KEY, null, name), String(length)).toEqual(
        hmac(sha256, KEY.subkey("name-index"), message).slice(0, 16),
      );
    }
  });
});
