import { mkdtemp, open, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { encryptFile } from "../encrypt-file.ts";
import { chunkCount, encryptPart } from "../file-part.ts";
import { decryptFile } from "../decrypt-file.ts";
import { collect, contentOf, planFile } from "../test-files.ts";
import { readContentOf } from "./file-content.ts";
import { nodePlatform } from "./platform.ts";

it("file-format §5: a file on disk, whole and in parts; one that became shorter is source_changed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "coffer-content-"));
  try {
    const path = join(directory, "content");
    const content = contentOf(700_000);
    await writeFile(path, content);
    await using file = await open(path);
    const read = readContentOf(file);
    const { plan, unlock } = await planFile({ contentSize: content.length });
    const whole = await collect(encryptFile(plan, read(0, content.length), { reuseBuffer: true }));
    expect(await collect(decryptFile(nodePlatform, whole, { unlock }))).toEqual(content);
    const part = await encryptPart(nodePlatform, plan, read, 20, chunkCount(plan));
    expect(part.bytes).toEqual(whole.subarray(part.fileOffset));
    await truncate(path, 699_999);
    const shorter = encryptPart(nodePlatform, plan, read, 20, chunkCount(plan));
    await expect(shorter).rejects.toMatchObject({ code: "source_changed" });
  } finally {
    await rm(directory, { recursive: true });
  }
});
