import { open, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { encryptFile } from "../encrypt-file.ts";
import { chunkCount, encryptPart } from "../file-part.ts";
import { decryptFile } from "../decrypt-file.ts";
import { collect, contentOf, planFile, reopened } from "../files.test-kit.ts";
import { readContentOf, writePieces } from "./file-content.ts";
import { nodePlatform } from "./platform.ts";

const directory = makeDirectory();

it("file-format §5: a file on disk, whole and in parts; one that became shorter is source_changed", async () => {
  const path = join(directory, "content");
  const content = contentOf(2_300_000);
  await writeFile(path, content);
  await using file = await open(path);
  const read = readContentOf(file);
  const planned = await planFile({ contentSize: content.length });
  const whole = await collect(encryptFile(planned.plan, read(0, content.length), { reuseBuffer: true }));
  expect(await collect(decryptFile(nodePlatform, whole, { unlock: planned.unlock }))).toEqual(content);
  const plan = await reopened(planned);
  const part = await encryptPart(nodePlatform, plan, read, 20, chunkCount(plan));
  expect(part.bytes).toEqual(whole.subarray(part.fileOffset));
  await truncate(path, 2_299_999);
  const shorter = encryptPart(nodePlatform, plan, read, 20, chunkCount(plan));
  await expect(shorter).rejects.toMatchObject({ code: "source_changed" });
});

describe("from disk to disk", () => {
  it("both ways, with one write under way", async () => {
    const content = contentOf(3_500_000);
    const [clear, stored, back] = ["clear", "stored", "back"].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(clear, content);
    const { plan, unlock } = await planFile({ contentSize: content.length });
    {
      await using from = await open(clear);
      await using to = await open(stored, "w");
      const encrypted = encryptFile(plan, readContentOf(from)(0, content.length), { reuseBuffer: true });
      expect(await writePieces(to, encrypted)).toBe(plan.fileSize);
    }
    await using from = await open(stored);
    await using to = await open(back, "w");
    const file = readContentOf(from)(0, (await from.stat()).size);
    expect(await writePieces(to, decryptFile(nodePlatform, file, { unlock, reuseBuffer: true }))).toBe(content.length);
    expect(new Uint8Array(await readFile(back))).toEqual(content);
  });

  it("a read and a write that fail are told, and what makes the pieces is let go", async () => {
    const path = join(directory, "read-only");
    await writeFile(path, contentOf(10));
    const closed = await open(path);
    await closed.close();
    await expect(collect(readContentOf(closed)(0, 10) as AsyncIterable<Uint8Array>)).rejects.toThrow();
    let released = false;
    async function* pieces(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield contentOf(10);
      } finally {
        released = true;
      }
    }
    await using readOnly = await open(path, "r");
    await expect(writePieces(readOnly, pieces())).rejects.toMatchObject({ code: "EBADF" });
    expect(released).toBe(true);
  });
});
