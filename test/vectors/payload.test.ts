import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  ciphertextSize,
  CryptoError,
  DataKey,
  decryptFile,
  decryptMessage,
  encryptFile,
  encryptMessage,
  newFilePlan,
  openRangeReader,
  paddedSize,
  parseFileStart,
  plaintextSize,
  webPlatform,
} from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { describe, expect, it } from "vitest";
import { collect, sha256Of } from "../kit/bytes.ts";
import { drawing } from "./drawing.ts";
import { applyEdits, fileBytes, type PayloadVectors } from "./payload-vectors.ts";

const vectors = JSON.parse(
  readFileSync(new URL("file-format/payload.json", import.meta.url), "utf8"),
) as PayloadVectors;
const PLATFORMS = [nodePlatform, webPlatform];
/** Whole, in pieces that fit nothing, and byte by byte. */
const FEEDINGS: readonly (readonly [string, readonly number[]])[] = [
  ["whole", []],
  ["streamed", [1000, 16400, 1, 30000]],
  ["byte by byte", [1]],
];

it("file-format §1: the committed vectors are what the code makes", async () => {
  for (const { context, key, message, plaintext } of vectors.messages) {
    const platform = drawing(bytes(message).subarray(0, 24));
    const made = await encryptMessage(platform, bytes(key), bytes(context), bytes(plaintext));
    expect(Buffer.from(made).toString("base64")).toBe(message);
  }
  for (const { contentSize, dataKey, digest, envelope, file, fileId, padded, versionId } of vectors.files) {
    const unlock = () => ({ dataKey: new DataKey(bytes(dataKey)), digest: null });
    const content = await collect(decryptFile(nodePlatform, feed(bytes(file), []), { unlock }));
    const salt = bytes(file).subarray(parseFileStart(bytes(file)).payloadOffset);
    const envelopeOf = () => bytes(envelope);
    const begun = { fileId, versionId, contentSize, padded, envelopeOf };
    const plan = await newFilePlan(drawing(bytes(dataKey), salt.subarray(0, 24)), begun);
    const sha256 = createHash("sha256");
    const running = { update: (piece: Uint8Array) => void sha256.update(piece), digest: () => sha256.digest() };
    const made = await collect(encryptFile(plan, content, { digest: running }));
    expect([made.toString("base64"), sha256.digest("base64")]).toEqual([file, digest]);
  }
});

it("file-format §3: sizes", () => {
  for (const { content, message, padded } of vectors.sizes) {
    expect(ciphertextSize(content)).toBe(message);
    expect(plaintextSize(message)).toBe(content);
    expect(paddedSize(content)).toBe(padded);
  }
});

describe.each(PLATFORMS)("on the $name platform", (platform) => {
  it.each(vectors.messages)("message: $name", async ({ context, key, message, plaintext }) => {
    const opened = await decryptMessage(platform, bytes(key), bytes(context), bytes(message));
    expect(Buffer.from(opened)).toEqual(bytes(plaintext));
  });

  describe.each(FEEDINGS)("%s", (_name, sizes) => {
    it.each(vectors.files)("opens: $name", async (vector) => {
      const opened = await read(bytes(vector.file), vector.dataKey, vector.digest);
      expect(opened.error).toBeNull();
      expect(opened.content.length).toBe(vector.contentSize);
      expect(sha256Of(opened.content)).toBe(vector.contentSha256);
    });

    it.each(vectors.failures)("refuses: $name", async (failure) => {
      const { content, error } = await read(applyEdits(vectors, failure), keyOf(failure.file));
      expect(error).toMatchObject({ name: "CryptoError", code: failure.code, step: failure.step });
      expect(content.length).toBe(failure.released);
    });

    it.each(vectors.malformed)("refuses what is well encrypted but not well formed: $name", async (malformed) => {
      const { error } = await read(bytes(malformed.file), malformed.dataKey);
      expect(error).toMatchObject({ name: "CryptoError", code: malformed.code, step: malformed.step });
    });

    async function read(file: Uint8Array, dataKey: string, digest?: string) {
      const unlock = () => ({
        dataKey: new DataKey(bytes(dataKey)),
        digest: digest === undefined ? null : bytes(digest),
      });
      const pieces: Uint8Array[] = [];
      try {
        for await (const piece of decryptFile(platform, feed(file, sizes), { unlock })) pieces.push(piece);
        return { content: Buffer.concat(pieces), error: null };
      } catch (error) {
        if (!(error instanceof CryptoError)) throw error;
        return { content: Buffer.concat(pieces), error };
      }
    }
  });

  it.each(vectors.files)("reads the ends and the middle of: $name", async (vector) => {
    const reader = await openRange(bytes(vector.file), vector.dataKey);
    expect(reader.contentSize).toBe(vector.contentSize);
    const middle = Math.floor(vector.contentSize / 2);
    const whole = await collect(reader.read(0, vector.contentSize));
    expect(sha256Of(whole)).toBe(vector.contentSha256);
    for (const [from, to] of [[0, middle], [middle, vector.contentSize], [vector.contentSize, vector.contentSize]] as const)
      expect(await collect(reader.read(from, to))).toEqual(whole.subarray(from, to));
  });

  it.each(vectors.failures)("no range of it is what it was: $name", async (failure) => {
    const good = await openRange(fileBytes(vectors, failure.file), keyOf(failure.file));
    const content = await collect(good.read(0, good.contentSize));
    const bad = applyEdits(vectors, failure);
    const pieces: Uint8Array[] = [];
    try {
      const reader = await openRange(bad, keyOf(failure.file));
      for await (const piece of reader.read(0, reader.contentSize)) pieces.push(piece);
      expect.fail("opened");
    } catch (error) {
      expect(error).toBeInstanceOf(CryptoError);
    }
    const released = Buffer.concat(pieces);
    expect(released).toEqual(content.subarray(0, released.length));
  });

  it.each(vectors.malformed)("no range of: $name", async ({ dataKey, file, name }) => {
    // What stands between the content and the size is looked at by whoever reads all of it.
    const opened = openRange(bytes(file), dataKey);
    if (/not zeros|below/.test(name)) expect((await opened).contentSize).toBeGreaterThan(0);
    else await expect(opened).rejects.toMatchObject({ code: "damaged", step: "padding" });
  });

  function openRange(file: Uint8Array, dataKey: string) {
    return openRangeReader(platform, {
      fetchBytes: (from, to) => file.subarray(from, to),
      unlock: ({ payloadOffset }) => ({
        dataKey: new DataKey(bytes(dataKey)),
        messageLength: file.length - payloadOffset,
      }),
    });
  }
});

it("file-format §1: a start says what the file's vector says", () => {
  for (const vector of vectors.files) {
    const { envelope, header } = parseFileStart(bytes(vector.file));
    const { fileId, padded, versionId } = vector;
    expect(header).toEqual({ fileId, versionId, padded, envelopeLength: envelope.length });
    expect(Buffer.from(envelope)).toEqual(bytes(vector.envelope));
  }
});

function keyOf(name: string): string {
  return vectors.files.find((file) => file.name === name)?.dataKey ?? "";
}

function bytes(base64: string): Uint8Array {
  return Buffer.from(base64, "base64");
}

function* feed(file: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < file.length; turn += 1) {
    const end = at + (sizes[turn % sizes.length] ?? file.length);
    yield file.subarray(at, end);
    at = end;
  }
}
