import { createHash } from "node:crypto";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inChunks } from "../../../test/kit/bytes.ts";
import { toReadableStream } from "./byte-source.ts";
import { decryptFile, decryptFileBytes } from "./decrypt-file.ts";
import { digestMessage, encryptFile, encryptFileAgain, encryptFileBytes } from "./encrypt-file.ts";
import { newFilePlan } from "./file-plan.ts";
import { parseFileStart } from "./file-start.ts";
import { encodeHeader } from "./header.ts";
import { nodePlatform } from "./node/platform.ts";
import { chunkNonce } from "./platform/platform.ts";
import { webPlatform } from "./platform/web.ts";
import { DataKey } from "./secret-key.ts";
import {
  collect,
  collectUntilFailure,
  contentOf,
  copyOf,
  FILE_ID,
  makeFile,
  planFile,
  VERSION_ID,
} from "./files.test-kit.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

describe.each([nodePlatform, webPlatform])("file-format §1: a file, on the $name platform", (platform) => {
  it("comes back, whatever its size, its padding and the pieces it moves in", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.integer({ min: 0, max: 40 }),
          fc.integer({ min: 16360, max: 16400 }),
          fc.integer({ max: 70_000, min: 0 }),
        ),
        fc.integer({ min: 0, max: 300 }),
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 4 }),
        async (size, zeros, padded, pieces) => {
          const content = contentOf(size).fill(0, Math.max(0, size - zeros));
          const { plan, unlock } = await planFile({ contentSize: size, padded });
          const file = await collect(encryptFile(plan, inChunks(content, ...pieces)));
          expect(file.length).toBe(plan.fileSize);
          expect(await collect(decryptFile(platform, inChunks(file, ...pieces), { unlock }))).toEqual(content);
          expect(await decryptFileBytes(platform, file, unlock)).toEqual(content);
          const whole = await planFile({ contentSize: size, padded });
          const made = await encryptFileBytes(platform, whole.plan, content);
          expect(made.bytes.length).toBe(whole.plan.fileSize);
          expect(await collect(decryptFile(platform, made.bytes, { unlock: whole.unlock }))).toEqual(content);
          expect(made.digest).toEqual(platform.sha256(made.bytes.subarray(whole.plan.payloadOffset)));
        },
      ),
      { numRuns: FULL ? 1000 : 40 },
    );
  });

  it("says its size before it is encrypted, or none when the content is a stream of unknown length", async () => {
    const { plan, unlock } = await planFile({ contentSize: null });
    expect(plan).toMatchObject({ contentSize: null, messageSize: null, fileSize: null });
    const content = contentOf(20_000);
    const file = await collect(encryptFile(plan, inChunks(content, 999)));
    expect(await collect(decryptFile(platform, file, { unlock }))).toEqual(content);
  });
});

describe("file-format §1: planning", () => {
  it("gives the envelope what it is bound to, and nothing shows the data key", async () => {
    const { plan, dataKey } = await planFile({ contentSize: 5 });
    const start = parseFileStart(await collect(encryptFile(plan, contentOf(5))));
    expect(start.commitment).toEqual(plan.keys.commitment);
    expect(start.header).toEqual({ fileId: FILE_ID, versionId: VERSION_ID, padded: false, envelopeLength: 40 });
    const secret = Buffer.from(dataKey.reveal());
    for (const shown of [
      inspect(dataKey, { showHidden: true, depth: 9 }),
      JSON.stringify({ dataKey, plan }),
      String(dataKey),
      inspect(plan, { depth: 9 }),
    ]) {
      expect(shown).not.toContain(secret.toString("hex"));
      expect(shown).not.toContain(secret.toString("base64"));
      expect(shown).not.toContain([...secret].join(", ").slice(0, 30));
    }
  });

  it("keeps copies: a Buffer that is used again changes nothing", async () => {
    const bytes = Buffer.alloc(32, 7);
    const key = new DataKey(bytes);
    const { file } = await makeFile(contentOf(10));
    const read = Buffer.from(file);
    const start = parseFileStart(read);
    const header = encodeHeader(start.header);
    const nonce = Buffer.alloc(12, 3);
    chunkNonce(nonce, 5);
    expect(nonce).toEqual(Buffer.alloc(12, 3));
    bytes.fill(0);
    read.fill(0);
    expect(key.reveal()).toEqual(new Uint8Array(32).fill(7));
    expect(start.headerBytes).toEqual(header);
    expect(start.salt).not.toEqual(new Uint8Array(24));
    expect(start.envelope).toEqual(new Uint8Array(40).fill(1));
  });

  it("makes another key and salt each time", async () => {
    const [a, b] = [await planFile({ contentSize: 1 }), await planFile({ contentSize: 1 })];
    expect(a.dataKey.reveal()).not.toEqual(b.dataKey.reveal());
    expect(a.plan.keys.salt).not.toEqual(b.plan.keys.salt);
  });

  it.each([
    ["an id that is no UUID", { fileId: "file" }, TypeError],
    ["an id in upper case", { versionId: VERSION_ID.toUpperCase() }, TypeError],
    ["an envelope of 4097 bytes", { envelopeOf: () => new Uint8Array(4097) }, RangeError],
    ["a content of 4 PiB", { contentSize: 2 ** 52 }, RangeError],
    ["padding of a size nobody knows", { contentSize: null, padded: true }, RangeError],
  ])("refuses %s", async (_name, wrong, error) => {
    const file = {
      fileId: FILE_ID,
      versionId: VERSION_ID,
      contentSize: 1,
      padded: false,
      envelopeOf: () => new Uint8Array(0),
    };
    await expect(newFilePlan(nodePlatform, { ...file, ...wrong })).rejects.toThrow(error);
  });

  it("a header is refused with an envelope of a length no file has", () => {
    const header = { fileId: FILE_ID, versionId: VERSION_ID, padded: false };
    for (const envelopeLength of [-1, 0.5, 4097])
      expect(() => encodeHeader({ ...header, envelopeLength })).toThrow(RangeError);
  });
});

describe("file-format §5: one content per plan", () => {
  it("a plan encrypts one file, once", async () => {
    const { plan } = await planFile({ contentSize: 5 });
    await collect(encryptFile(plan, contentOf(5)));
    expect(() => encryptFile(plan, contentOf(5))).toThrow("a plan encrypts one file once");
    expect(() => encryptFileAgain(nodePlatform, plan, contentOf(5), new Uint8Array(32))).toThrow(
      "a plan encrypts one file once",
    );
    await expect(encryptFileBytes(nodePlatform, plan, contentOf(5))).rejects.toThrow("a plan encrypts one file once");
    const { plan: other } = await planFile({ contentSize: 5 });
    await encryptFileBytes(nodePlatform, other, contentOf(5));
    expect(() => encryptFile(other, contentOf(5))).toThrow("a plan encrypts one file once");
  });

  it.each([
    ["longer", 6],
    ["shorter", 4],
  ])("a content in memory that is %s than planned is source_changed", async (_, size) => {
    const { plan } = await planFile({ contentSize: 5 });
    await expect(encryptFileBytes(nodePlatform, plan, contentOf(size))).rejects.toMatchObject({
      code: "source_changed",
    });
  });

  it.each([
    ["longer", 20_001],
    ["shorter", 19_999],
    ["empty", 0],
  ])("a content that is %s than planned is source_changed, and the file has no end", async (_name, size) => {
    for (const padded of [false, true]) {
      const { plan } = await planFile({ contentSize: 20_000, padded });
      const { content, error } = await collectUntilFailure(encryptFile(plan, inChunks(contentOf(size), 5000)));
      expect(error).toMatchObject({ name: "CryptoError", code: "source_changed", step: "source" });
      expect(content.length).toBeLessThan(plan.fileSize ?? 0);
    }
  });

  it("two passes: the digest first, then the same message; of a changed content the end is never given", async () => {
    const content = contentOf(40_000);
    const changed = content.slice();
    changed[1] = (changed[1] ?? 0) ^ 1;
    for (const [second, same] of [
      [content, true],
      [changed, false],
    ] as const) {
      const { plan, unlock } = await planFile({ contentSize: content.length });
      const digest = await digestMessage(nodePlatform, plan, inChunks(content, 7000));
      const sent = await collectUntilFailure(encryptFileAgain(nodePlatform, plan, second, digest));
      if (same) {
        expect(createHash("sha256").update(sent.content.subarray(plan.payloadOffset)).digest()).toEqual(
          Buffer.from(digest),
        );
        const key = { ...(await unlock(parseFileStart(sent.content))), digest };
        expect(await collect(decryptFile(nodePlatform, sent.content, { unlock: () => key }))).toEqual(content);
      } else {
        expect(sent.error).toMatchObject({ code: "source_changed" });
        expect(sent.content.length).toBeLessThan(plan.fileSize ?? 0);
      }
    }
  });
});

describe("file-format §4: reading whole files", () => {
  it("holds the file to a stated length and digest", async () => {
    const { content, dataKey, file, plan } = await makeFile(contentOf(40_000));
    const messageLength = file.length - plan.payloadOffset;
    const digest = createHash("sha256").update(file.subarray(plan.payloadOffset)).digest();
    const read = (key: object) =>
      collectUntilFailure(decryptFile(nodePlatform, file, { unlock: () => ({ dataKey: copyOf(dataKey), ...key }) }));
    expect(await read({ messageLength, digest })).toEqual({ content, error: null });
    const refused = (step: string) => expect.objectContaining({ code: "damaged", step }) as unknown;
    expect((await read({ messageLength: messageLength - 1 })).error).toEqual(refused("length"));
    expect((await read({ messageLength: messageLength + 1 })).error).toEqual(refused("length"));
    expect(await read({ messageLength: 56 + 16400 })).toEqual({ content: new Uint8Array(0), error: refused("length") });
    expect((await read({ digest: new Uint8Array(32) })).error).toEqual(refused("digest"));
  });

  it("what unlock throws stops it before anything is given", async () => {
    const { file } = await makeFile(contentOf(10));
    const refusal = new Error("not a member");
    const unlock = () => Promise.reject(refusal);
    expect(await collectUntilFailure(decryptFile(nodePlatform, file, { unlock }))).toEqual({
      content: new Uint8Array(0),
      error: refusal,
    });
  });
});

describe("streams", () => {
  /** Counts what was asked for; `closed` once its reader let go. */
  function counting(bytes: Uint8Array, size: number) {
    const seen = { pulled: 0, closed: false };
    async function* pieces(): AsyncGenerator<Uint8Array> {
      try {
        for (let at = 0; at < bytes.length; at += size) {
          seen.pulled += 1;
          yield bytes.subarray(at, at + size);
        }
      } finally {
        seen.closed = true;
      }
    }
    return { seen, pieces: pieces() };
  }

  it("ask for the next piece when the last result was taken, and let go of their source when nobody wants more", async () => {
    const { plan, unlock } = await planFile({ contentSize: 640_000 });
    const source = counting(contentOf(640_000), 64_000);
    const encrypted = encryptFile(plan, source.pieces);
    await encrypted.next();
    expect(source.seen.pulled).toBe(0);
    await encrypted.next();
    expect(source.seen.pulled).toBe(1);
    await encrypted.return();
    expect(source.seen).toEqual({ pulled: 1, closed: true });
    const { file, unlock: unlockFile } = await makeFile(contentOf(640_000));
    const stored = counting(file, 64_000);
    const decrypted = decryptFile(nodePlatform, stored.pieces, { unlock: unlockFile });
    await decrypted.next();
    expect(stored.seen.pulled).toBe(1);
    await decrypted.return();
    expect(stored.seen.closed).toBe(true);
    expect(unlock).toBeTypeOf("function");
  });

  it("do not give a chunk that lies in two pieces by itself: results are as large as what comes in", async () => {
    const { content, file, unlock } = await makeFile(contentOf(2_000_000));
    const sizes: number[] = [];
    for await (const piece of decryptFile(nodePlatform, inChunks(file, 262_144), { unlock })) sizes.push(piece.length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(content.length);
    // The last one is the short final chunk.
    for (const size of sizes.slice(0, -2)) expect(size).toBeGreaterThanOrEqual(15 * 16384);
  });

  it("give valid pieces from one buffer too, for who writes each out before the next", async () => {
    for (const padded of [false, true]) {
      const content = contentOf(600_000);
      const { plan, unlock } = await planFile({ contentSize: content.length, padded });
      const file = await collect(encryptFile(plan, inChunks(content, 300_000), { reuseBuffer: true }));
      const options = { unlock, reuseBuffer: true };
      expect(await collect(decryptFile(nodePlatform, inChunks(file, 200_000, 7), options))).toEqual(content);
    }
  });

  it("of the web: both ways, and a cancelled one lets go too", async () => {
    const content = contentOf(100_000);
    const { plan, unlock } = await planFile({ contentSize: content.length });
    const file = toReadableStream(encryptFile(plan, toReadableStream(inChunks(content, 9000))));
    expect(await collect(decryptFile(webPlatform, withoutIterator(file), { unlock }))).toEqual(content);
    const source = counting(content, 1000);
    const stream = toReadableStream(source.pieces);
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(source.seen).toEqual({ pulled: 1, closed: true });
  });

  it("end when the signal fires, also while their source is silent", async () => {
    const reason = new Error("enough");
    const { plan, unlock } = await planFile({ contentSize: 40_000 });
    const silent = new AbortController();
    async function* silence(): AsyncGenerator<Uint8Array> {
      yield contentOf(20_000);
      queueMicrotask(() => silent.abort(reason));
      await new Promise(() => undefined);
    }
    await expect(collect(encryptFile(plan, silence(), { signal: silent.signal }))).rejects.toBe(reason);
    const { file } = await makeFile(contentOf(10));
    const options = { unlock, signal: AbortSignal.abort(reason) };
    await expect(collect(decryptFile(nodePlatform, file, options))).rejects.toBe(reason);
  });

  it("pass on what their source throws", async () => {
    const failure = new Error("disk");
    const { plan } = await planFile({ contentSize: 40_000 });
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield contentOf(20_000);
      throw failure;
    }
    await expect(collect(encryptFile(plan, failing(), { signal: new AbortController().signal }))).rejects.toBe(failure);
  });

  /** As Safari has them. */
  function withoutIterator(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    return { getReader: () => stream.getReader() } as unknown as ReadableStream<Uint8Array>;
  }
});
