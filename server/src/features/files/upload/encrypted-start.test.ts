import { hash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { collect } from "../../../../../test/kit/bytes.ts";
import { openMemoryBlobs } from "../../../storage.test-kit.ts";
import { codeOf } from "../../service.test-kit.ts";
import { holdingToHeader, holdingToVersion, requireSignedSize, requireStoredVersion } from "./encrypted-start.ts";
import { encryptedFile } from "../shared-files.test-kit.ts";

const numRuns = process.env["COFFER_TEST_COUNTS"] === "full" ? 2000 : 60;

function signedOf({ bytes, messageLength }: { bytes: Buffer; messageLength: number }) {
  const start = bytes.subarray(0, bytes.length - messageLength);
  return { header: bytes.subarray(0, 44), startDigest: hash("sha256", start, "hex"), messageLength };
}

async function* cut(bytes: Buffer, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const length of lengths) {
    yield await Promise.resolve(bytes.subarray(at, at + length));
    at += length;
  }
  if (at < bytes.length) yield bytes.subarray(at);
}

const files = fc.record({ envelope: fc.nat(400), message: fc.integer({ min: 72, max: 300 }) });
const lengths = fc.array(fc.nat(70), { maxLength: 30 });
const make = ({ envelope, message }: { envelope: number; message: number }) =>
  encryptedFile({ envelope: randomBytes(envelope), message: randomBytes(message) });

test("the signed file passes unchanged, however it is cut", async () => {
  const property = fc.asyncProperty(files, lengths, async (sizes, pieces) => {
    const file = make(sizes);
    const signed = signedOf(file);
    expect((await collect(holdingToVersion(cut(file.bytes, pieces), signed))).equals(file.bytes)).toBe(true);
    requireSignedSize(file.bytes.length, signed);
  });
  await fc.assert(property, { numRuns });
});

test("any bit of header or envelope that differs is refused, and no byte of the header that differs is passed on", async () => {
  const property = fc.asyncProperty(files, lengths, fc.nat(), fc.nat(7), async (sizes, pieces, place, bit) => {
    const file = make(sizes);
    const at = place % (file.bytes.length - file.messageLength);
    const bytes = Buffer.from(file.bytes);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
    const passed: Uint8Array[] = [];
    const reading = async (): Promise<void> => {
      for await (const chunk of holdingToVersion(cut(bytes, pieces), signedOf(file))) passed.push(chunk);
    };
    expect(await codeOf(reading())).toBe(at < 8 ? "not_encrypted" : "statement_invalid");
    if (at < 44) expect(Buffer.concat(passed).length).toBeLessThanOrEqual(at);
  });
  await fc.assert(property, { numRuns });
});

test("a file that ends early or goes on is refused, also once it is stored", async () => {
  const file = make({ envelope: 30, message: 80 });
  const signed = signedOf(file);
  await using blobs = openMemoryBlobs({ clock: { now: () => 0, elapsed: () => 0 } });
  const longer = Buffer.concat([file.bytes, Buffer.alloc(5000)]);
  for (const size of [0, 7, 8, 43, 47, 48, 60, 78, file.bytes.length - 1, file.bytes.length + 1, longer.length]) {
    const code = size < 8 ? "not_encrypted" : "statement_invalid";
    const bytes = longer.subarray(0, size);
    expect(await codeOf(collect(holdingToVersion(cut(bytes, [5, 50]), signed)))).toBe(code);
    await blobs.put(`blob-${size}-0`, cut(bytes, []));
    expect(await codeOf(requireStoredVersion(blobs, `blob-${size}-0`, { size, signed }))).toBe(code);
  }
  await blobs.put("the-whole", cut(file.bytes, []));
  await requireStoredVersion(blobs, "the-whole", { size: file.bytes.length, signed });
});

test("a part is held to what of the header lies in it", async () => {
  const file = make({ envelope: 30, message: 80 });
  const signed = signedOf(file);
  for (const offset of [0, 5, 20, 43, 44, 100]) {
    const part = file.bytes.subarray(offset, offset + 30);
    expect((await collect(holdingToHeader(cut(part, [3, 9]), signed, offset))).equals(part)).toBe(true);
    const other = Buffer.from(part.map((byte) => byte ^ 1));
    const code = offset < 8 ? "not_encrypted" : offset < 44 ? "statement_invalid" : "ok";
    expect(await codeOf(collect(holdingToHeader(cut(other, [3]), signed, offset)))).toBe(code);
  }
});
