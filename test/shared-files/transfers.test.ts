/** Content of shared vaults through the same calls as that of public ones, against a server and a local chain. */
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  createClient,
  type Client,
  type Middleware,
  type Progress,
  type TransportRequest,
  type Vault,
} from "@coffer/sdk";
import { downloadFile, fileStore, uploadFile } from "@coffer/sdk/node";
import { beforeAll, describe, expect, test } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import { spoilingContent } from "../kit/lying-service.ts";

const stack = sharedStack(UNLIMITED);
let vault: Vault;
const directory = makeDirectory();
/** The owner in another process. */
let reader: Client;

beforeAll(async () => {
  vault = await stack.owner.client.vaults.create({ name: "transfers", type: "shared" });
  reader = stack.owner.another();
});

const MIB = 1024 * 1024;
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

async function read(fileId: string, range?: { offset: number; length?: number }): Promise<Buffer> {
  return Buffer.from(await (await reader.files.download(fileId, range === undefined ? {} : { range })).bytes());
}

/** Bodies and answers of calls, by method. */
function recorder(): { readonly middleware: Middleware; readonly sent: TransportRequest[] } {
  const sent: TransportRequest[] = [];
  return { sent, middleware: (request, next) => (sent.push(request), next(request)) };
}

describe("content of a shared vault", () => {
  test.each([0, 1, 16_383, 16_384, 16_385, 100_000, 5 * MIB + 1])(
    "of %i bytes comes back as it was, at another client, whole and in part",
    async (length) => {
      const body = randomBytes(length);
      const {
        file,
        bytes,
        sha256: digest,
      } = await stack.owner.client.files.upload({
        vaultId: vault.id,
        name: `bytes-${String(length)}.bin`,
        contentType: "image/png",
        body,
      });
      expect([bytes, digest]).toEqual([length, sha256(body)]);
      expect(file).toMatchObject({ name: `bytes-${String(length)}.bin`, contentType: "image/png", size: length });
      expect(file.storedSize).toBeGreaterThan(length);
      const download = await reader.files.download(file.id);
      expect(download).toMatchObject({ name: file.name, contentType: "image/png", size: length });
      expect(sha256(await download.bytes())).toBe(digest);
      for (const [offset, count] of [
        [0, 1],
        [Math.floor(length / 2), 20_000],
        [Math.max(0, length - 1), 5],
      ] as const)
        expect((await read(file.id, { offset, length: count })).equals(body.subarray(offset, offset + count))).toBe(
          true,
        );
    },
  );

  test("is padded on demand: the service sees one size for many", async () => {
    const stored = new Set<number | undefined>();
    for (const length of [40_000, 40_500]) {
      const body = randomBytes(length);
      const { file } = await stack.owner.client.files.upload(
        { vaultId: vault.id, name: `padded-${String(length)}`, body },
        { padded: true },
      );
      stored.add(file.storedSize);
      expect(file.size).toBe(length);
      expect((await read(file.id)).equals(body)).toBe(true);
      expect((await read(file.id, { offset: length - 10 })).equals(body.subarray(-10))).toBe(true);
    }
    expect(stored.size).toBe(1);
  });

  test("comes from a stream: of unknown size up to 8 MiB, above with its size", async () => {
    const { files } = stack.owner.client;
    const body = randomBytes(9 * MIB);
    const pieces = async function* (of: Uint8Array) {
      for (let at = 0; at < of.length; at += 100_000) yield of.subarray(at, at + 100_000);
    };
    const small = await files.upload({ vaultId: vault.id, name: "stream-small", body: pieces(body.subarray(0, MIB)) });
    expect(small.sha256).toBe(sha256(body.subarray(0, MIB)));
    await expect(files.upload({ vaultId: vault.id, name: "stream-none", body: pieces(body) })).rejects.toMatchObject({
      code: "invalid_request",
    });
    const large = await files.upload({ vaultId: vault.id, name: "stream", body: pieces(body), size: body.length });
    expect((await read(large.file.id)).equals(body)).toBe(true);
    await expect(
      files.upload({ vaultId: vault.id, name: "stream-short", body: pieces(body), size: body.length + 1 }),
    ).rejects.toMatchObject({ code: "source_changed" });
  });

  test("is replaced with its name kept, and by two at once without loss", async () => {
    const { files } = stack.owner.client;
    const { file } = await files.upload({
      vaultId: vault.id,
      name: "versions.txt",
      contentType: "text/plain",
      body: randomBytes(10),
    });
    const second = await files.replace(file.id, { body: Buffer.from("second") });
    expect(second.file).toMatchObject({ name: "versions.txt", contentType: "text/plain", size: 6 });
    expect(String(await read(file.id))).toBe("second");
    // Without `*` one of them would be told that the file has changed.
    await Promise.all([
      files.replace(file.id, { ifMatch: "*", body: Buffer.from("third") }),
      reader.files.replace(file.id, { vaultId: vault.id, ifMatch: "*", body: Buffer.from("fourth") }),
    ]);
    expect(["third", "fourth"]).toContain(String(await read(file.id)));
    const renamed = await reader.files.get(file.id);
    expect(renamed.name).toBe("versions.txt");
  });

  test("tells its progress, and leaves nothing when it is aborted", async () => {
    const { files } = stack.owner.client;
    const seen: Progress[] = [];
    const onProgress = (progress: Progress): void => void seen.push(progress);
    for (const size of [9 * MIB, 1_000, 0]) {
      seen.length = 0;
      const input = { vaultId: vault.id, name: `progress of ${String(size)}`, body: randomBytes(size) };
      const { file } = await files.upload(input, { onProgress });
      // In bytes of content; more are stored.
      expect(seen.every(({ bytes, total }) => bytes <= size && total === size)).toBe(true);
      expect(seen.at(-1)).toEqual({ bytes: size, total: size, storedBytes: file.storedSize });
      expect(file.storedSize).toBeGreaterThan(size);
      seen.length = 0;
      await (await files.download(file.id, { onProgress })).bytes();
      expect(seen.at(-1)).toEqual({ bytes: size, total: size });
    }
    const controller = new AbortController();
    const upload = files.upload(
      { vaultId: vault.id, name: "aborted", body: randomBytes(20 * MIB) },
      { signal: controller.signal, onProgress: ({ bytes }) => bytes > 8 * MIB && controller.abort() },
    );
    await expect(upload).rejects.toMatchObject({ code: "aborted" });
    const names: string[] = [];
    for await (const { name } of files.list({ vaultId: vault.id })) names.push(name);
    expect(names).toContain("progress of 1000");
    expect(names).not.toContain("aborted");
  });

  test("may be text, and nothing of what is no bytes is sent or left", async () => {
    const text = "größer als 😀\n".repeat(1000);
    const { middleware, sent } = recorder();
    const { files } = stack.owner.another({ middleware: [middleware] });
    const { file, bytes } = await files.upload({ vaultId: vault.id, name: "text.txt", body: text });
    expect([bytes, file.size]).toEqual([Buffer.byteLength(text), Buffer.byteLength(text)]);
    expect(sha256(await read(file.id))).toBe(sha256(Buffer.from(text)));
    await files.replace(file.id, { body: "short" });
    expect(String(await read(file.id))).toBe("short");
    sent.length = 0;
    const used = new Blob(["x"]).stream();
    await new Response(used).text();
    for (const body of [5, null, { text }, used]) {
      const wrong = { body: body as unknown as Uint8Array };
      await expect(files.upload({ vaultId: vault.id, name: "wrong", ...wrong })).rejects.toMatchObject({
        name: "ContractError",
        code: "invalid_request",
        issues: [expect.stringMatching(/^body: /)],
      });
      await expect(files.replace(file.id, wrong)).rejects.toMatchObject({ code: "invalid_request" });
    }
    expect(sent).toEqual([]);
    // A stream that turns out to be of text, before and after a part of it was sent.
    for (const before of [0, 5 * MIB]) {
      const body = (async function* () {
        yield await Promise.resolve(randomBytes(before));
        yield "text" as unknown as Uint8Array;
      })();
      const upload = files.upload({ vaultId: vault.id, name: "wrong", body, size: before + 4 }, { partBytes: MIB });
      await expect(upload).rejects.toMatchObject({ code: "invalid_request" });
    }
    const names: string[] = [];
    for await (const { name } of files.list({ vaultId: vault.id })) names.push(name);
    expect(names).not.toContain("wrong");
    expect(String(await read(file.id))).toBe("short");
  });

  test("never leaves this machine in the clear, not even from a client that cannot encrypt [S26]", async () => {
    const body = randomBytes(50_000);
    const { middleware, sent } = recorder();
    const plain = createClient({
      baseUrl: stack.baseUrl,
      credentials: { apiKey: stack.owner.apiKey },
      middleware: [middleware],
    });
    const { file } = await stack.owner.client.files.upload({ vaultId: vault.id, name: "not-plain", body });
    const folder = await stack.owner.client.folders.create({ vaultId: vault.id, name: "not-plain-either" });
    for (const attempt of [
      () => plain.files.upload({ vaultId: vault.id, name: "plain.bin", body }),
      () => plain.files.upload({ folderId: folder.id, name: "plain.bin", body }),
      () => plain.files.replace(file.id, { body }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: "shared_vault" });
    expect(sent.map(({ method }) => method)).toEqual(["GET", "GET", "GET"]);
    // What it lists is closed to it.
    expect(await plain.files.get(file.id)).toMatchObject({ name: "", contentType: "application/octet-stream" });
  });
});

describe("a folder of a shared vault", () => {
  test("is enough to say where content goes, once it was seen there: it is encrypted without the vault's id, too", async () => {
    const { id: folderId } = await stack.owner.client.folders.create({ vaultId: vault.id, name: "by itself" });
    const body = randomBytes(1000);
    const { middleware, sent } = recorder();
    const client = stack.owner.another({ middleware: [middleware] });
    await client.folders.list({ vaultId: vault.id });
    const { file } = await client.files.upload({ folderId, name: "in-folder.bin", body });
    expect(file).toMatchObject({ vaultId: vault.id, folderId, name: "in-folder.bin", size: 1000 });
    // Looked for there, too.
    expect((await client.files.list({ folderId, name: "in-folder.bin" })).files.map(({ id }) => id)).toEqual([file.id]);
    expect((await client.files.list({ folderId, name: "in-folder-2.bin" })).files).toEqual([]);
    expect(sent.filter(({ url }) => url.includes("in-folder"))).toEqual([]);
    expect(await read(file.id)).toEqual(body);
  });
});

describe("files of this machine", () => {
  test("go up and come down, whole or in part, with the digest of the content", async () => {
    const path = join(directory, "up.bin");
    const body = randomBytes(9 * MIB + 3);
    await writeFile(path, body);
    const { client } = stack.owner;
    const up = await uploadFile(client, path, { vaultId: vault.id, store: fileStore(join(directory, "store")) });
    expect([up.sha256, up.file.name]).toEqual([sha256(body), "up.bin"]);
    expect(await readdir(join(directory, "store"))).toEqual([]);
    const down = join(directory, "down.bin");
    expect(await downloadFile(client, up.file.id, down)).toMatchObject({ bytes: body.length, sha256: sha256(body) });
    expect((await readFile(down)).equals(body)).toBe(true);
    await expect(downloadFile(client, up.file.id, down)).rejects.toMatchObject({ code: "destination_exists" });
    const part = await downloadFile(client, up.file.id, down, { overwrite: true, range: { offset: 5, length: 7 } });
    expect(part.sha256).toBe(sha256(body.subarray(5, 12)));
  });

  test("have the digest of the content beyond 64 MiB too, from a file and from a stream, whole and in part", async () => {
    const path = join(directory, "long.bin");
    const body = randomBytes(65 * MIB + 1);
    await writeFile(path, body);
    const { client } = stack.owner;
    const up = await uploadFile(client, path, { vaultId: vault.id, store: fileStore(join(directory, "store")) });
    expect([up.bytes, up.sha256]).toEqual([body.length, sha256(body)]);
    const streamed = await client.files.upload({
      vaultId: vault.id,
      name: "long-stream.bin",
      body: new Blob([body]).stream(),
      size: body.length,
    });
    expect(streamed.sha256).toBe(sha256(body));
    const down = join(directory, "long-down.bin");
    const whole = await downloadFile(client, up.file.id, down);
    expect(whole).toEqual({ path: down, bytes: body.length, sha256: sha256(body) });
    expect((await readFile(down)).equals(body)).toBe(true);
    const range = { offset: 1, length: 65 * MIB };
    const part = await downloadFile(client, up.file.id, down, { overwrite: true, range });
    expect(part.sha256).toBe(sha256(body.subarray(1)));
  });

  test("are not there after a download that failed", async () => {
    const { client } = stack.owner;
    const { file } = await client.files.upload({ vaultId: vault.id, name: "flipped", body: randomBytes(MIB) });
    const flip = spoilingContent((bytes) => bytes.with(-1, (bytes.at(-1) ?? 0) ^ 1));
    const empty = makeDirectory();
    const flipped = stack.owner.another({ middleware: [flip] });
    await expect(downloadFile(flipped, file.id, join(empty, "out"))).rejects.toMatchObject({
      code: "damaged",
    });
    expect(await readdir(empty)).toEqual([]);
  });
});
