import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inChunks } from "../../../test/kit/bytes.ts";
import { concatBytes } from "./bytes.ts";
import { decryptFile } from "./decrypt-file.ts";
import { encryptFile } from "./encrypt-file.ts";
import {
  chunkCount,
  encryptPart,
  MAX_PART_CHUNKS,
  partCapacity,
  partOffset,
  reencryptPart,
  type PartRecord,
  type ReadContent,
} from "./file-part.ts";
import { reopenFilePlan, type FilePlan } from "./file-plan.ts";
import { nodePlatform } from "./node/platform.ts";
import { webPlatform } from "./platform/web.ts";
import { encodeSavedPart, encodeSavedPlan, parseSavedPart, parseSavedPlan } from "./saved-plan.ts";
import { DataKey } from "./secret-key.ts";
import { collect, contentOf, copyOf, planFile, reopened, type Planned } from "./files.test-kit.ts";

const readerOf =
  (content: Uint8Array): ReadContent =>
  (from, to) =>
    inChunks(content.subarray(from, to), 3000, 50_000);

async function encryptParts(plan: FilePlan, content: Uint8Array, chunks: number) {
  const parts = [];
  for (let first = 0; first < chunkCount(plan); first += chunks)
    parts.push(
      await encryptPart(nodePlatform, plan, readerOf(content), first, Math.min(first + chunks, chunkCount(plan))),
    );
  return parts;
}

/** What a crash leaves: text in a journal, read by the next process. */
async function afterCrash({ dataKey, plan }: Planned, records: readonly PartRecord[]) {
  const journal = JSON.stringify({ plan: encodeSavedPlan(plan), parts: records.map(encodeSavedPart) });
  const read = JSON.parse(journal) as { plan: unknown; parts: unknown[] };
  const saved = parseSavedPlan(read.plan);
  if (saved === null) throw new Error("the plan was not understood");
  const parts = read.parts.map((part) => parseSavedPart(part));
  return { journal, saved, plan: await reopenFilePlan(webPlatform, saved, copyOf(dataKey)), parts };
}

describe("file-format §5: parts", () => {
  it("one after the other are the file", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat(100), fc.nat(80_000), fc.constantFrom(16384, 32768, 16376)),
        fc.boolean(),
        fc.integer({ min: 1, max: 4 }),
        async (size, padded, chunks) => {
          const content = contentOf(size);
          const planned = await planFile({ contentSize: size, padded });
          const whole = await collect(encryptFile(planned.plan, content));
          const plan = await reopened(planned);
          const parts = await encryptParts(plan, content, chunks);
          expect(concatBytes(...parts.map((part) => part.bytes))).toEqual(whole);
          for (const part of parts) {
            expect(part.fileOffset).toBe(partOffset(plan, part.record.firstChunk));
            expect(part.fileOffset + part.bytes.length).toBe(partOffset(plan, part.record.endChunk));
          }
          expect(partOffset(plan, chunkCount(plan))).toBe(plan.fileSize);
          expect(await collect(decryptFile(nodePlatform, whole, { unlock: planned.unlock }))).toEqual(content);
        },
      ),
      { numRuns: process.env["COFFER_TEST_COUNTS"] === "full" ? 500 : 30 },
    );
  });

  it.each([
    [-1, 1],
    [0, 0],
    [2, 1],
    [0, 5],
    [0.5, 1],
  ])("chunks %d to %d of four are refused", async (first, end) => {
    const { plan } = await planFile({ contentSize: 50_000 });
    expect(chunkCount(plan)).toBe(4);
    await expect(encryptPart(nodePlatform, plan, readerOf(contentOf(50_000)), first, end)).rejects.toThrow(RangeError);
  });

  it("a part that memory should not hold is refused, and so are parts of a content without a size", async () => {
    const { plan } = await planFile({ contentSize: 2 ** 40 });
    const read: ReadContent = () => expect.fail("read");
    await expect(encryptPart(nodePlatform, plan, read, 0, MAX_PART_CHUNKS + 1)).rejects.toThrow(RangeError);
    const stream = await planFile({ contentSize: null });
    expect(() => chunkCount(stream.plan)).toThrow(TypeError);
    expect(() => encodeSavedPlan(stream.plan)).toThrow(TypeError);
  });

  it("one buffer serves one part after the other", async () => {
    const content = contentOf(100_000);
    const { plan } = await planFile({ contentSize: content.length, padded: true });
    const buffer = new Uint8Array(partCapacity(2));
    for (const part of await encryptParts(plan, content, 2)) {
      const { endChunk, firstChunk } = part.record;
      const again = await encryptPart(webPlatform, plan, readerOf(content), firstChunk, endChunk, { buffer });
      expect(again).toEqual(part);
      expect(again.bytes.buffer).toBe(buffer.buffer);
    }
    const small = encryptPart(nodePlatform, plan, readerOf(content), 0, 2, { buffer: buffer.subarray(9000) });
    await expect(small).rejects.toThrow(RangeError);
    for (const chunks of [0, -1, MAX_PART_CHUNKS + 1, Number.NaN])
      expect(() => partCapacity(chunks)).toThrow(RangeError);
  });

  it("the signal ends them", async () => {
    const { plan } = await planFile({ contentSize: 50_000 });
    const reason = new Error("enough");
    const part = encryptPart(nodePlatform, plan, readerOf(contentOf(50_000)), 0, 2, {
      signal: AbortSignal.abort(reason),
    });
    await expect(part).rejects.toBe(reason);
  });
});

describe("file-format §5: after a crash", () => {
  it.each([
    ["as it is", false],
    ["padded", true],
  ])("an unchanged source gives the same bytes again, %s; the journal holds no key", async (_name, padded) => {
    const content = contentOf(100_000);
    const planned = await planFile({ contentSize: content.length, padded });
    const before = await encryptParts(planned.plan, content, 2);
    const crash = await afterCrash(
      planned,
      before.map((part) => part.record),
    );
    for (const [at, record] of crash.parts.entries()) {
      if (record === null) throw new Error("a part was not understood");
      const again = await reencryptPart(webPlatform, crash.plan, readerOf(content), record);
      expect(again).toEqual(before[at]);
    }
    const secret = Buffer.from(planned.dataKey.reveal());
    for (const form of [secret.toString("base64"), secret.toString("hex"), secret.toString("base64url")])
      expect(crash.journal).not.toContain(form);
  });

  it.each([
    ["a byte edited", (content: Uint8Array) => content.with(40_000, (content[40_000] ?? 0) ^ 1)],
    ["shifted", (content: Uint8Array) => concatBytes(Uint8Array.of(1), content.subarray(0, -1))],
    ["cut", (content: Uint8Array) => content.subarray(0, 35_000)],
    ["emptied", () => new Uint8Array(0)],
    ["of zeros", (content: Uint8Array) => new Uint8Array(content.length)],
  ])("a source with %s is source_changed, and gives nothing to send", async (_name, change) => {
    const content = contentOf(60_000);
    const planned = await planFile({ contentSize: content.length });
    const { record } = await encryptPart(nodePlatform, planned.plan, readerOf(content), 1, 3);
    const { plan } = await afterCrash(planned, [record]);
    const again = reencryptPart(nodePlatform, plan, readerOf(change(content)), record);
    await expect(again).rejects.toMatchObject({ name: "CryptoError", code: "source_changed", step: "source" });
  });

  it("within one process a part has one content too, and parts are cut the same way", async () => {
    const content = contentOf(60_000);
    const { plan } = await planFile({ contentSize: content.length });
    const first = await encryptPart(nodePlatform, plan, readerOf(content), 1, 3);
    expect(await encryptPart(nodePlatform, plan, readerOf(content), 1, 3)).toEqual(first);
    const other = encryptPart(nodePlatform, plan, readerOf(new Uint8Array(60_000)), 1, 3);
    await expect(other).rejects.toMatchObject({ code: "source_changed" });
    await expect(encryptPart(nodePlatform, plan, readerOf(content), 1, 2)).rejects.toThrow(RangeError);
  });

  it("within one process no chunk is in two parts, whatever their order", async () => {
    const content = contentOf(120_000);
    const { plan } = await planFile({ contentSize: content.length });
    const changed = readerOf(new Uint8Array(120_000));
    for (const [first, end] of [
      [4, 6],
      [0, 2],
      [7, 8],
      [2, 4],
    ] as const)
      await encryptPart(nodePlatform, plan, readerOf(content), first, end);
    for (const [first, end] of [
      [0, 1],
      [1, 3],
      [3, 5],
      [5, 6],
      [5, 8],
      [6, 8],
      [0, 8],
    ] as const)
      await expect(encryptPart(nodePlatform, plan, changed, first, end)).rejects.toThrow(RangeError);
    await encryptPart(nodePlatform, plan, readerOf(content), 6, 7);
    await encryptPart(nodePlatform, plan, readerOf(content), 2, 4);
  });

  it("a plan makes the whole file, or parts: never both, as the content may have changed between them", async () => {
    const content = contentOf(60_000);
    const { plan } = await planFile({ contentSize: content.length });
    await encryptPart(nodePlatform, plan, readerOf(content), 0, 1);
    expect(() => encryptFile(plan, content)).toThrow("a plan encrypts one file once");
    const { plan: whole } = await planFile({ contentSize: content.length });
    await collect(encryptFile(whole, content));
    await expect(encryptPart(nodePlatform, whole, readerOf(new Uint8Array(60_000)), 0, 1)).rejects.toThrow(
      "a plan encrypts one file once",
    );
  });

  it("a plan that was taken up again makes parts only", async () => {
    const planned = await planFile({ contentSize: 5 });
    const { plan } = await afterCrash(planned, []);
    expect(() => encryptFile(plan, contentOf(5))).toThrow("a plan encrypts one file once");
  });

  it("more content than asked for is source_changed too", async () => {
    const content = contentOf(60_000);
    const { plan } = await planFile({ contentSize: content.length });
    const grown: ReadContent = (from, to) => concatBytes(content.subarray(from, to), Uint8Array.of(0));
    await expect(encryptPart(nodePlatform, plan, grown, 0, 2)).rejects.toMatchObject({ code: "source_changed" });
  });

  it("a record speaks for its own part of its own file only", async () => {
    const content = contentOf(60_000).fill(0);
    const [one, two] = [await planFile({ contentSize: 60_000 }), await planFile({ contentSize: 60_000 })];
    const part = await encryptPart(nodePlatform, one.plan, readerOf(content), 0, 1);
    for (const [plan, record] of [
      [two.plan, part.record],
      [one.plan, { ...part.record, firstChunk: 1, endChunk: 2 }],
      [(await afterCrash(one, [])).plan, { ...part.record, endChunk: 2 }],
    ] as const)
      await expect(reencryptPart(nodePlatform, plan, readerOf(content), record)).rejects.toMatchObject({
        code: "source_changed",
      });
  });

  it("another data key is wrong_key before anything is encrypted", async () => {
    const { plan } = await planFile({ contentSize: 5 });
    const saved = parseSavedPlan(JSON.parse(JSON.stringify(encodeSavedPlan(plan))));
    if (saved === null) throw new Error("the plan was not understood");
    const reopened = reopenFilePlan(nodePlatform, saved, new DataKey(new Uint8Array(32)));
    await expect(reopened).rejects.toMatchObject({ code: "wrong_key", step: "commitment" });
  });
});

describe("file-format §5: what a journal may hold", () => {
  it("anything but a whole plan is null", async () => {
    const { plan } = await planFile({ contentSize: 5 });
    const good = encodeSavedPlan(plan);
    expect(parseSavedPlan(good)).not.toBeNull();
    for (const bad of [
      null,
      "plan",
      [],
      {},
      { ...good, format: "coffer/plan/v2" },
      { ...good, header: good.header.slice(4) },
      { ...good, header: good.salt },
      { ...good, envelope: "" },
      { ...good, envelope: `${good.envelope.slice(0, -1)}!` },
      { ...good, envelope: "A".repeat(10_000) },
      { ...good, salt: good.commitment },
      { ...good, commitment: 5 },
      { ...good, contentSize: -1 },
      { ...good, contentSize: 1.5 },
      { ...good, contentSize: "5" },
    ])
      expect(parseSavedPlan(bad)).toBeNull();
  });

  it("anything but a whole part is null", () => {
    const good = { firstChunk: 0, endChunk: 1, tagDigest: Buffer.alloc(32).toString("base64") };
    expect(parseSavedPart(good)).toEqual({ firstChunk: 0, endChunk: 1, tagDigest: new Uint8Array(32) });
    for (const bad of [
      null,
      { ...good, firstChunk: 1 },
      { ...good, firstChunk: -1 },
      { ...good, endChunk: 2 ** 38 + 1 },
      { ...good, endChunk: "1" },
      { ...good, tagDigest: "" },
      { ...good, tagDigest: `${good.tagDigest.slice(0, -2)}B=` },
    ])
      expect(parseSavedPart(bad)).toBeNull();
  });
});
