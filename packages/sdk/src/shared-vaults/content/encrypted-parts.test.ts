import { chunkCount, DataKey, decryptFile, newFilePlan, webPlatform, type FilePlan } from "@coffer/crypto";
import { digestMessage, type PartRecord } from "@coffer/crypto";
import { describe, expect, it } from "vitest";
import { openSource, type Source } from "../../transfer/source.ts";
import type { EncodedBytes } from "../../transfer/upload-codec.ts";
import { EncryptedParts, PartRecords, type EncryptedPartsOptions } from "./encrypted-parts.ts";

const CHUNK = 16_384;
const PART_CHUNKS = 4;

async function planFor(contentSize: number) {
  let dataKey: DataKey | null = null;
  const plan = await newFilePlan(webPlatform, {
    fileId: crypto.randomUUID(),
    versionId: crypto.randomUUID(),
    contentSize,
    padded: false,
    // A copy: the plan's own is overwritten when it is made.
    envelopeOf: (request) => ((dataKey = new DataKey(request.dataKey.reveal())), new Uint8Array(100)),
  });
  const copy = dataKey as DataKey | null;
  if (copy === null) throw new Error("the plan asks for an envelope");
  return { plan, dataKey: copy };
}

async function readAll(source: EncodedBytes, step: number): Promise<Uint8Array> {
  const all = new Uint8Array(source.size ?? 0);
  for (let at = 0; at < all.length; at += step) await source.read(at, all.subarray(at, at + step));
  return all;
}

function open(plan: FilePlan, content: Uint8Array, options: EncryptedPartsOptions = {}): EncryptedParts {
  return new EncryptedParts(webPlatform, plan, openSource(content), { partChunks: PART_CHUNKS, ...options });
}

const contentOf = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 7) & 0xff);

describe("encrypted parts", () => {
  it.each([0, 1, CHUNK * PART_CHUNKS, CHUNK * 9 + 5])("of %i bytes is the file, however it is read", async (length) => {
    const content = contentOf(length);
    const { plan, dataKey } = await planFor(length);
    const file = await readAll(open(plan, content), 1000);
    expect(await readAll(open(plan, content), 100_000)).toEqual(file);
    const pieces: Uint8Array[] = [];
    for await (const piece of decryptFile(webPlatform, file, { unlock: () => ({ dataKey }) }))
      pieces.push(piece.slice());
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
  });

  it("reads the content of all its parts into one buffer: each new one would wait for the garbage collector", async () => {
    const content = contentOf(CHUNK * 9 + 5);
    const { plan } = await planFor(content.length);
    const [memory, buffers] = [openSource(content), new Set<ArrayBufferLike>()];
    const watched: Source = {
      ...memory,
      read: (offset, target) => {
        buffers.add(target.buffer);
        return memory.read(offset, target);
      },
    };
    const source = new EncryptedParts(webPlatform, plan, watched, { partChunks: PART_CHUNKS });
    // The last part first: what it takes is enough for the others.
    await source.read(CHUNK * 9, new Uint8Array(10));
    await readAll(source, 10_000);
    expect(buffers.size).toBe(1);
    expect([...buffers][0]?.byteLength).toBe(CHUNK * PART_CHUNKS);
  });

  it("reads again from the beginning, and from any place in the part it holds", async () => {
    const content = contentOf(CHUNK * 9);
    const { plan } = await planFor(content.length);
    const source = open(plan, content);
    const [once, again] = [new Uint8Array(500), new Uint8Array(500)];
    await source.read(CHUNK * 6, once);
    await source.read(10, new Uint8Array(10));
    await source.read(CHUNK * 6, again);
    expect(again).toEqual(once);
  });

  it("gives nothing of a part that it could not keep in the place of the one before, whose memory it took", async () => {
    const content = contentOf(CHUNK * 9);
    const { plan } = await planFor(content.length);
    let left = 1;
    const records = new PartRecords([], () =>
      left-- > 0 ? Promise.resolve() : Promise.reject(new Error("disk full")),
    );
    const source = open(plan, content, { records });
    const [once, again] = [new Uint8Array(500), new Uint8Array(500)];
    await source.read(CHUNK, once);
    await expect(source.read(CHUNK * 6, new Uint8Array(10))).rejects.toThrow("disk full");
    left = 1;
    await source.read(CHUNK, again);
    expect(again).toEqual(once);
  });

  it("keeps the record of a part before it gives a byte of it, and gives nothing that differs from one", async () => {
    const content = contentOf(CHUNK * 9);
    const { plan } = await planFor(content.length);
    const saved: PartRecord[] = [];
    const source = open(plan, content, {
      records: new PartRecords([], (record) => {
        saved.push(record);
        return Promise.resolve();
      }),
    });
    const firstChunks = (): number[] => saved.map(({ firstChunk }) => firstChunk);
    await source.read(0, new Uint8Array(1));
    expect(firstChunks()).toEqual([0]);
    await readAll(source, 10_000);
    expect(firstChunks()).toEqual(
      Array.from({ length: Math.ceil(chunkCount(plan) / PART_CHUNKS) }, (_, part) => part * PART_CHUNKS),
    );
    const changed = Uint8Array.from(content);
    changed[CHUNK * 5] = 0xff;
    const target = new Uint8Array(10);
    await expect(
      open(plan, changed, { records: new PartRecords(saved) }).read(CHUNK * 6, target),
    ).rejects.toMatchObject({
      code: "source_changed",
    });
    expect(target).toEqual(new Uint8Array(10));
  });

  it("does not give the last part of a content that changed since its digest was made", async () => {
    const content = contentOf(CHUNK * 9);
    const { plan } = await planFor(content.length);
    const digest = await digestMessage(webPlatform, plan, content);
    const changed = Uint8Array.from(content);
    changed[3] = 0xff;
    await expect(readAll(open(plan, changed, { digest }), 10_000)).rejects.toMatchObject({
      code: "source_changed",
    });
  });

  it("never makes other bytes of a part that it gave before, also without a journal", async () => {
    const content = contentOf(CHUNK * 9);
    const { plan } = await planFor(content.length);
    const source = open(plan, content);
    await source.read(CHUNK * 6, new Uint8Array(10));
    content[CHUNK * 2] = 0xff;
    const target = new Uint8Array(10);
    await expect(source.read(0, target)).rejects.toMatchObject({ code: "source_changed" });
    expect(target).toEqual(new Uint8Array(10));
  });
});
