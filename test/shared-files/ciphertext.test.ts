/** Encrypted bytes are no file: a client that cannot open them hands them out to nobody who has not asked for ciphertext. */
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type Client, type DownloadOptions, type Middleware, type Vault } from "@coffer/sdk";
import { downloadFile } from "@coffer/sdk/node";
import { beforeAll, describe, expect, test } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { keepVersion, lyingOfFiles, spoilingContent } from "../kit/lying-service.ts";
import { sharedStack } from "../kit/shared-scene.ts";

const MAGIC = Buffer.from("\x93CFR\r\n\x1a\n", "latin1");
const RANGES = [undefined, { offset: 0 }, { offset: 0, length: 3 }, { offset: 5, length: 7 }, { offset: 300 }];

const stack = sharedStack();
let vault: Vault;
let open: Vault;
let fileId: string;
/** As the service keeps it. */
let stored: Buffer;
const directory = makeDirectory();

beforeAll(async () => {
  const { client } = stack.owner;
  vault = await client.vaults.create({ name: "closed", type: "shared" });
  open = await client.vaults.create({ name: "open", type: "public" });
  fileId = (await client.files.upload({ vaultId: vault.id, name: "closed.bin", body: randomBytes(1000) })).file.id;
  stored = Buffer.from((await keepVersion(stack, fileId)).bytes);
});

/** Opened without `sharedVaults`. */
function plain(...middleware: Middleware[]): Client {
  return createClient({
    baseUrl: stack.baseUrl,
    credentials: { apiKey: stack.owner.apiKey },
    middleware,
    retry: { limit: 0 },
  });
}

/** The service calls the file a public one, in every answer. */
const calledPublic = (): Middleware => async (request, next, context) => {
  const lie = lyingOfFiles((file) => ({ ...file, vaultId: open.id, shared: null, encrypted: false }));
  const answer = await lie(request, next, context);
  if (context.endpointId !== "files.content") return answer;
  const headers = new Headers(answer.headers);
  headers.delete("coffer-file");
  return new Response(answer.body, { status: answer.status, headers });
};

async function read(client: Client, id: string, options: DownloadOptions = {}): Promise<Buffer> {
  return Buffer.from(await (await client.files.download(id, options)).bytes());
}

/** An uploaded public file's id. */
async function put(name: string, body: Uint8Array): Promise<string> {
  return (await plain().files.upload({ vaultId: open.id, name, body })).file.id;
}

const cut = (bytes: Buffer, range: { offset: number; length?: number } | undefined): Buffer =>
  bytes.subarray(range?.offset, range?.length === undefined ? undefined : range.offset + range.length);

describe("a client without sharedVaults", () => {
  test("is refused a shared vault's file, whole and in part, also where the service calls it public [S30]", async () => {
    for (const client of [plain(), plain(calledPublic())])
      for (const range of RANGES) {
        const given = range === undefined ? {} : { range };
        await expect(client.files.download(fileId, given), JSON.stringify(given)).rejects.toMatchObject({
          name: "VaultError",
          code: "shared_vault",
          retryable: false,
          nextStep: expect.stringMatching(/sharedVaults.*ciphertext: true/) as string,
        });
        const destination = join(directory, "none.bin");
        const saving = downloadFile(client, fileId, destination, given);
        await expect(saving).rejects.toMatchObject({ code: "shared_vault" });
      }
    expect(await readdir(directory)).toEqual([]);
  });

  test("gets the stored bytes when it asks for ciphertext [S30]", async () => {
    for (const client of [plain(), plain(calledPublic())])
      for (const range of RANGES) {
        const given = { ciphertext: true, ...(range === undefined ? {} : { range }) };
        const bytes = await read(client, fileId, given);
        expect(bytes.equals(cut(stored, range)), JSON.stringify(given)).toBe(true);
      }
    const path = join(directory, "stored.bin");
    const { sha256 } = await downloadFile(plain(), fileId, path, { ciphertext: true });
    expect([sha256, (await readFile(path)).equals(stored)]).toEqual([
      createHash("sha256").update(stored).digest("hex"),
      true,
    ]);
    await rm(path);
  });

  test("is refused what the service says is of a shared vault, whatever the bytes are", async () => {
    const spoiled = spoilingContent(() => Buffer.from("in the clear"));
    await expect(read(plain(spoiled), fileId)).rejects.toMatchObject({ code: "shared_vault" });
  });

  test("reads public files as before: empty, shorter than the magic, and such as begin almost like it", async () => {
    const contents = [
      Buffer.alloc(0),
      Buffer.from("a"),
      MAGIC.subarray(0, 7),
      Buffer.concat([MAGIC.subarray(0, 7), Buffer.from("x")]),
      Buffer.concat([Buffer.from("x"), MAGIC, randomBytes(500_000)]),
    ];
    for (const [index, body] of contents.entries()) {
      const id = await put(`public ${String(index)}`, body);
      expect((await read(plain(), id)).equals(body), String(index)).toBe(true);
      for (const range of RANGES)
        if (range !== undefined && range.offset < body.length)
          expect((await read(plain(), id, { range })).equals(cut(body, range)), JSON.stringify(range)).toBe(true);
    }
  });

  test("is told by the bytes alone: what is encrypted is no file in a public vault either [S30]", async () => {
    const id = await put("kept.file", stored);
    for (const client of [plain(), stack.owner.another()]) {
      for (const range of RANGES)
        await expect(read(client, id, range === undefined ? {} : { range })).rejects.toMatchObject({
          code: "shared_vault",
        });
      expect((await read(client, id, { ciphertext: true })).equals(stored)).toBe(true);
    }
  });

  test("mixes no two versions when it looks at the beginning of what it reads a part of", async () => {
    const id = await put("replaced.bin", randomBytes(100));
    const replacing: Middleware = async (request, next, { endpointId }) => {
      const answer = await next(request);
      if (endpointId === "files.content" && request.headers.get("range") === "bytes=50-")
        await plain().files.replace(id, { body: randomBytes(100) });
      return answer;
    };
    const reading = read(plain(replacing), id, { range: { offset: 50 } });
    await expect(reading).rejects.toMatchObject({ code: "integrity_failed" });
  });
});

describe("a client with sharedVaults", () => {
  test("gets the stored bytes when it asks for ciphertext, and the content otherwise", async () => {
    const client = stack.owner.another();
    expect((await read(client, fileId, { ciphertext: true })).equals(stored)).toBe(true);
    expect(await read(client, fileId)).toHaveLength(1000);
  });

  test("is not handed encrypted bytes as a file when the service shows the file in a public vault", async () => {
    const client = stack.owner.another({ retry: { limit: 0 }, middleware: [calledPublic()] });
    for (const range of RANGES) {
      const failure: unknown = await read(client, fileId, range === undefined ? {} : { range }).catch(
        (e: unknown) => e,
      );
      expect(["shared_vault", "vault_changed"]).toContain((failure as { code: string }).code);
    }
  });
});
