import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { writeAll } from "./download-file.ts";

const PIECE = 300_000;
const PIECES = 16;

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < PIECES; at += 1) yield new Uint8Array(PIECE).fill(at);
}

/** A disk that looks at the bytes late. */
function slowFile(keep: (bytes: Uint8Array) => void): FileHandle {
  const write = async (bytes: Uint8Array, offset: number, length: number) => {
    await sleep(2);
    keep(bytes.slice(offset, offset + length));
    return { bytesWritten: length, buffer: bytes };
  };
  return { write } as unknown as FileHandle;
}

it("writes every byte once and in order, while the disk is still at the block before", async () => {
  const kept: Uint8Array[] = [];
  expect(
    await writeAll(
      pieces(),
      slowFile((bytes) => kept.push(bytes)),
      null,
    ),
  ).toBe(PIECE * PIECES);
  const expected: Uint8Array[] = [];
  for await (const piece of pieces()) expected.push(piece);
  expect(Buffer.concat(kept).equals(Buffer.concat(expected))).toBe(true);
});

it("rejects with the disk's failure, also of a block that nobody waits for yet", async () => {
  const full = slowFile(() => {
    throw new Error("no space left");
  });
  await expect(writeAll(pieces(), full, null)).rejects.toThrow("no space left");
});
