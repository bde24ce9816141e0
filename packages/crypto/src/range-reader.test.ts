import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inChunks } from "../../../test/kit/bytes.ts";
import { concatBytes, encodeU64 } from "./bytes.ts";
import { encodeFileStart } from "./file-plan.ts";
import { nodePlatform } from "./node/platform.ts";
import { CHUNK_BYTES } from "./platform/platform.ts";
import { webPlatform } from "./platform/web.ts";
import { openRangeReader, type RangeReaderOptions } from "./range-reader.ts";
import { ciphertextSize, MAX_CHUNKS, MAX_PLAINTEXT_BYTES } from "./sizes.ts";
import { collect, collectUntilFailure, contentOf, copyOf, makeFile, planFile } from "./files.test-kit.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const MEBIBYTE = 1024 * 1024;

type Stored = Awaited<ReturnType<typeof makeFile>>;

/** Reads of a file in memory, and how much of it was asked for. */
function readable({ dataKey, file, plan }: Stored, overrides: Partial<RangeReaderOptions> = {}) {
  const fetched: [number, number][] = [];
  const options: RangeReaderOptions = {
    fetchBytes: (from, to) => {
      fetched.push([from, Math.min(to, file.length)]);
      return inChunks(file.subarray(from, to), 5000, 20_000);
    },
    unlock: () => ({ dataKey: copyOf(dataKey), messageLength: file.length - plan.payloadOffset }),
    ...overrides,
  };
  return { options, fetched, bytes: () => fetched.reduce((sum, [from, to]) => sum + to - from, 0) };
}

describe.each([nodePlatform, webPlatform])("file-format §4: ranges, on the $name platform", (platform) => {
  it("are the same bytes that a whole read gives, wherever they begin and end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat(40), fc.integer({ min: 16360, max: 16400 }), fc.nat(70_000)),
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(70_000), fc.nat(70_000)), { minLength: 1, maxLength: 3 }),
        async (size, padded, ends) => {
          const stored = await makeFile(contentOf(size), padded);
          const reader = await openRangeReader(platform, readable(stored).options);
          expect(reader.contentSize).toBe(size);
          for (const pair of [...ends, [0, size], [size, size]]) {
            const [from = 0, to = 0] = pair.map((end) => Math.min(end, size)).sort((a, b) => a - b);
            expect(await collect(reader.read(from, to))).toEqual(stored.content.subarray(from, to));
          }
        },
      ),
      { numRuns: FULL ? 500 : 25 },
    );
  });
});

describe("file-format §4: what a range costs", () => {
  it("the start and the final chunk once, then the chunks that hold it and nothing else", async () => {
    const stored = await makeFile(contentOf(10 * 16384 + 50));
    const { fetched, options } = readable(stored);
    const at = 48 + 40 + 56;
    const reader = await openRangeReader(nodePlatform, options);
    expect(fetched).toEqual([
      [0, 8192],
      [at + 10 * 16400, stored.file.length],
    ]);
    fetched.length = 0;
    await collect(reader.read(16384, 32768));
    await collect(reader.read(16383, 32769));
    await collect(reader.read(5, 5));
    await collect(reader.read(10 * 16384 + 1, 10 * 16384 + 50));
    await collect(reader.read(9 * 16384, 10 * 16384 + 50));
    expect(fetched).toEqual([
      [at + 16400, at + 2 * 16400],
      [at, at + 3 * 16400],
      [at + 9 * 16400, at + 10 * 16400],
    ]);
  });

  it("1 MiB anywhere: at most 1.1 MiB of the file", async () => {
    const stored = await makeFile(contentOf(3 * MEBIBYTE + 1234), true);
    for (const from of [0, 1, 16383, 777_777, 2 * MEBIBYTE + 1234]) {
      const { bytes, options } = readable(stored);
      const reader = await openRangeReader(nodePlatform, options);
      const read = await collect(reader.read(from, from + MEBIBYTE));
      expect(read).toEqual(stored.content.subarray(from, from + MEBIBYTE));
      expect(bytes()).toBeLessThanOrEqual(1.1 * MEBIBYTE);
    }
  });

  it("a file of less than 8 KiB: one read for all", async () => {
    const stored = await makeFile(contentOf(5000));
    const { fetched, options } = readable(stored);
    const reader = await openRangeReader(nodePlatform, options);
    expect(await collect(reader.read(100, 5000))).toEqual(stored.content.subarray(100));
    expect(fetched).toHaveLength(1);
  });
});

describe("file-format §4: what a range refuses", () => {
  it.each([
    [-1, 5],
    [3, 2],
    [0, 101],
    [0.5, 2],
    [0, Number.NaN],
  ])("a range from %d to %d of 100 bytes", async (from, to) => {
    const reader = await openRangeReader(nodePlatform, readable(await makeFile(contentOf(100))).options);
    expect(() => reader.read(from, to)).toThrow(RangeError);
  });

  it("a length that the final chunk does not authenticate", async () => {
    const stored = await makeFile(contentOf(3 * 16384 + 100));
    const whole = stored.file.length - stored.plan.payloadOffset;
    for (const messageLength of [whole - 1, whole - 116, whole - 16400, whole + 1, 56 + 16, 56, 0, -1, 2 ** 60]) {
      const unlock = () => ({ dataKey: copyOf(stored.dataKey), messageLength });
      await expect(openRangeReader(nodePlatform, readable(stored, { unlock }).options)).rejects.toMatchObject({
        code: "damaged",
        step: "length",
      });
    }
  });

  it("a size that no padded file can have, in the last chunk of the longest message there is", async () => {
    const { dataKey, plan } = await planFile({ contentSize: 5, padded: true });
    const lastChunk = new Uint8Array(CHUNK_BYTES - 1);
    lastChunk.set(encodeU64(MAX_PLAINTEXT_BYTES - 8), lastChunk.length - 8);
    const stored = await plan.keys.encrypt(lastChunk, MAX_CHUNKS - 1, true);
    const opening = openRangeReader(nodePlatform, {
      unlock: () => ({ dataKey: copyOf(dataKey), messageLength: ciphertextSize(MAX_PLAINTEXT_BYTES) }),
      fetchBytes: (from, to) =>
        from === 0 ? concatBytes(encodeFileStart(plan), new Uint8Array(to)).subarray(0, to) : stored,
    });
    await expect(opening).rejects.toMatchObject({ name: "CryptoError", code: "damaged", step: "padding" });
  });

  it("answers that are too short or too long, and the bytes of another file", async () => {
    const stored = await makeFile(contentOf(5 * 16384));
    const other = await makeFile(contentOf(5 * 16384));
    const answers: readonly [string, (from: number, to: number) => Uint8Array][] = [
      ["short", (from, to) => stored.file.subarray(from, to - 1)],
      ["without its last chunk", (from, to) => stored.file.subarray(from, to - 16400)],
      ["long", (from, to) => stored.file.subarray(from, to + 1)],
      ["with another chunk", (from, to) => stored.file.subarray(from, to + 16400)],
      ["shifted by a chunk", (from, to) => stored.file.subarray(from + 16400, to + 16400)],
      ["another file's", (from, to) => other.file.subarray(from, to)],
      ["nothing", () => new Uint8Array(0)],
    ];
    for (const [name, answer] of answers) {
      const good = readable(stored).options;
      let opened = false;
      const fetchBytes: RangeReaderOptions["fetchBytes"] = (from, to, signal) =>
        opened ? answer(from, to) : good.fetchBytes(from, to, signal);
      const reader = await openRangeReader(nodePlatform, { ...good, fetchBytes });
      opened = true;
      const read = await collectUntilFailure(reader.read(16384 + 10, 3 * 16384));
      expect(read.error, name).toMatchObject({ code: "damaged", step: "chunks" });
      expect(read.content, name).toEqual(stored.content.subarray(16384 + 10, 16384 + 10 + read.content.length));
    }
  });

  it("to go on when the signal fires, and what its source throws", async () => {
    const stored = await makeFile(contentOf(5 * 16384));
    const reader = await openRangeReader(nodePlatform, readable(stored).options);
    const reason = new Error("enough");
    await expect(collect(reader.read(0, 20_000, AbortSignal.abort(reason)))).rejects.toBe(reason);
    const failure = new Error("connection");
    const broken = readable(stored, { fetchBytes: () => Promise.reject(failure) });
    await expect(openRangeReader(nodePlatform, broken.options)).rejects.toBe(failure);
  });

  it("what is given can be changed without changing what is read next", async () => {
    const stored = await makeFile(contentOf(100));
    const reader = await openRangeReader(nodePlatform, readable(stored).options);
    for await (const piece of reader.read(0, 100)) piece.fill(0);
    expect(await collect(reader.read(0, 100))).toEqual(stored.content);
  });

  it("a wrong key, before anything but the start is fetched", async () => {
    const stored = await makeFile(contentOf(5 * 16384));
    const { dataKey } = await planFile({ contentSize: 1 });
    const { fetched, options } = readable(stored, {
      unlock: () => ({ dataKey: copyOf(dataKey), messageLength: 82_072 }),
    });
    await expect(openRangeReader(nodePlatform, options)).rejects.toMatchObject({
      code: "wrong_key",
      step: "commitment",
    });
    expect(fetched).toHaveLength(1);
  });
});
