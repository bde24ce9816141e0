import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { writeNewFile } from "./new-file.ts";

const PIECE = 300_000;

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  const reused = new Uint8Array(PIECE);
  for (let at = 0; at < count; at += 1) yield reused.fill(at);
}

async function whole(count: number): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces(count)) all.push(piece.slice());
  return Buffer.concat(all);
}

it.each([0, 1, 3, 70])("makes a file of its owner alone of %i pieces, with their digest", async (count) => {
  const path = join(makeDirectory(), "new");
  const hash = createHash("sha256");
  expect(await writeNewFile(path, pieces(count), hash)).toBe(PIECE * count);
  const bytes = await readFile(path);
  expect(bytes.equals(await whole(count))).toBe(true);
  expect(hash.digest("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await expect(writeNewFile(path, pieces(1), null)).rejects.toMatchObject({ code: "EEXIST" });
});
