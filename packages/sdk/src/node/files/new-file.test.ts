import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { writeAll, writeNewFile } from "./new-file.ts";

const PIECE = 300_000;
const PIECES = 16;

async function* pieces(count = PIECES): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 1) yield new Uint8Array(PIECE).fill(at);
}

async function whole(count = PIECES): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces(count)) all.push(piece);
  return Buffer.concat(all);
}

/** A disk that looks at the bytes late. */
function slowFile(keep: (bytes: Uint8Array, position: number) => void): FileHandle {
  const write = async (bytes: Uint8Array, offset: number, length: number, position: number) => {
    await sleep(2);
    keep(bytes.slice(offset, offset + length), position);
    return { bytesWritten: length, buffer: bytes };
  };
  return { write } as unknown as FileHandle;
}

/** A slow disk in memory. */
function diskOf(length: number) {
  const content = Buffer.alloc(length);
  const writes: number[] = [];
  const file = slowFile((bytes, position) => {
    writes.push(bytes.length);
    content.set(bytes, position);
  });
  return { content, writes, file };
}

const refusing = (message: string): FileHandle =>
  slowFile(() => {
    throw new Error(message);
  });

it("writes every byte once and in its place, while the disk is still at the block before", async () => {
  const { content, file } = diskOf(PIECE * PIECES);
  expect(await writeAll(pieces(), { file, direct: null, hash: null })).toBe(PIECE * PIECES);
  expect(content.equals(await whole())).toBe(true);
});

it("gives whole blocks to the direct file, the rest to the other, and all of them to the digest", async () => {
  const [blocks, rest] = [diskOf(PIECE * PIECES), diskOf(PIECE * PIECES)];
  const hash = createHash("sha256");
  await writeAll(pieces(), { file: rest.file, direct: blocks.file, hash });
  expect(new Set(blocks.writes)).toEqual(new Set([1024 * 1024]));
  expect(rest.writes).toEqual([(PIECE * PIECES) % (1024 * 1024)]);
  const cut = blocks.writes.length * 1024 * 1024;
  const all = Buffer.concat([blocks.content.subarray(0, cut), rest.content.subarray(cut)]);
  expect(all.equals(await whole())).toBe(true);
  expect(hash.digest("hex")).toBe(createHash("sha256").update(all).digest("hex"));
});

it("writes through the cache when the file system refuses a direct write", async () => {
  const { content, file } = diskOf(PIECE * PIECES);
  await writeAll(pieces(), { file, direct: refusing("EINVAL"), hash: null });
  expect(content.equals(await whole())).toBe(true);
});

it("rejects with the disk's failure, also of a block that nobody waits for yet", async () => {
  const full = refusing("no space left");
  await expect(writeAll(pieces(), { file: full, direct: null, hash: null })).rejects.toThrow("no space left");
  await expect(writeAll(pieces(), { file: full, direct: full, hash: null })).rejects.toThrow("no space left");
});

it("makes a large file of this machine, of its owner alone, and none where one is", async () => {
  const path = join(makeDirectory(), "large");
  const count = 70;
  expect(await writeNewFile(path, pieces(count), { hash: null, length: PIECE * count })).toBe(PIECE * count);
  expect((await readFile(path)).equals(await whole(count))).toBe(true);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await expect(writeNewFile(path, pieces(), { hash: null, length: 1 })).rejects.toMatchObject({ code: "EEXIST" });
});
