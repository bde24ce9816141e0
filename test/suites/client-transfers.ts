import { createHash } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { downloadFile, fileStore, uploadFile } from "@coffer/sdk/node";
import { expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { recorder, sampleBytes, type Accounts } from "./client-subject.ts";

const PART = 64 * 1024;
const BYTES = sampleBytes(PART * 4 + 1234, 5);
const SHA256 = createHash("sha256").update(BYTES).digest("hex");

/** Bytes in parts, from memory, streams and files of this machine. */
export function transfersSuite(accounts: () => Accounts): void {
  it("uploads in parts, with progress up to the whole [D5-tus] [D5-tus-metadata] [D5-tus-file-id-header]", async () => {
    const wire = recorder();
    const { client } = await accounts().signup({ middleware: [wire.middleware] });
    const folder = await client.folders.create({ name: "parts" });
    const seen: number[] = [];
    const { file, sha256 } = await client.files.upload(
      {
        name: "in parts ü",
        folderId: folder.id,
        contentType: "image/png",
        body: new Blob([BYTES as Uint8Array<ArrayBuffer>]),
      },
      { partBytes: PART, onProgress: ({ bytes, total }) => seen.push(bytes / (total ?? 0)) },
    );
    expect(sha256).toBe(SHA256);
    expect(file).toMatchObject({ name: "in parts ü", folderId: folder.id, contentType: "image/png", sha256: SHA256 });
    expect(wire.sent.filter((line) => line.startsWith("PATCH"))).toHaveLength(5);
    expect(seen.at(-1)).toBe(1);
    expect(Math.max(...seen)).toBe(1);
  });

  it("uploads a stream of known size in parts, and refuses one that is shorter or longer", async () => {
    const { client } = await accounts().signup();
    const stream = (bytes: Uint8Array) => new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
    const options = { partBytes: PART };
    expect((await client.files.upload({ name: "ok", body: stream(BYTES), size: BYTES.length }, options)).sha256).toBe(
      SHA256,
    );
    for (const size of [BYTES.length - 1, BYTES.length + 1]) {
      await expect(client.files.upload({ name: "no", body: stream(BYTES), size }, options)).rejects.toMatchObject({
        code: "source_changed",
      });
    }
    expect((await client.files.list({ name: "no" })).files).toEqual([]);
  });

  it("makes one file under one Idempotency-Key, whole or in parts, and says so to both calls", async () => {
    const { client } = await accounts().signup();
    for (const partBytes of [BYTES.length, PART]) {
      const name = `keyed ${partBytes}`;
      const upload = () =>
        client.files.upload({ name, body: BYTES }, { partBytes, idempotencyKey: `key-${partBytes}` });
      const [first, second] = [await upload(), await upload()];
      expect(second).toEqual(first);
      expect((await client.files.list({ name })).files).toHaveLength(1);
    }
  });

  it("writes a version in parts [D5-tus-file-id]", async () => {
    const { client } = await accounts().signup();
    const { file } = await client.files.upload({ name: "v", body: new Uint8Array(1) });
    const { file: next } = await client.files.replace(file.id, { body: BYTES }, { partBytes: PART });
    expect(next).toMatchObject({ id: file.id, sha256: SHA256 });
  });

  it("moves files of this machine, whole or not at all", async () => {
    const { client } = await accounts().signup();
    const directory = makeDirectory();
    const source = join(directory, "source.bin");
    await writeFile(source, BYTES);
    const sent = await uploadFile(client, source, { partBytes: PART, store: fileStore(join(directory, "store")) });
    expect(sent).toMatchObject({ bytes: BYTES.length, sha256: SHA256, file: { name: "source.bin" } });
    expect(await readdir(join(directory, "store"))).toEqual([]);
    const destination = join(directory, "copy.bin");
    expect(await downloadFile(client, sent.file.id, destination)).toEqual({
      path: destination,
      bytes: BYTES.length,
      sha256: SHA256,
    });
    expect(Buffer.compare(await readFile(destination), BYTES)).toBe(0);
    expect((await stat(destination)).mode & 0o777).toBe(0o600);
    await expect(downloadFile(client, sent.file.id, destination)).rejects.toMatchObject({
      code: "destination_exists",
    });
    const part = await downloadFile(client, sent.file.id, destination, {
      overwrite: true,
      range: { offset: 10, length: 20 },
    });
    expect(part.sha256).toBe(createHash("sha256").update(BYTES.subarray(10, 30)).digest("hex"));
    expect((await readdir(directory)).sort()).toEqual(["copy.bin", "source.bin", "store"]);
  });
}
