/** What may be passed where bytes are wanted, and what happens with everything else: a clear refusal, before anything is sent. */
import { runInNewContext } from "node:vm";
import { filesGroup } from "@coffer/contract";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { ByteBody, Client } from "../index.ts";
import { openService } from "../connection/service.test-kit.ts";

const TEXT = "größer als 😀\n";
const BYTES = new TextEncoder().encode(TEXT);

async function read(client: Client, fileId: string): Promise<string> {
  return new TextDecoder().decode(await (await client.files.download(fileId)).bytes());
}

async function* chunks<Chunk>(...each: Chunk[]): AsyncGenerator<Chunk, void, undefined> {
  for (const chunk of each) yield await Promise.resolve(chunk);
}

/** A stream that somebody has read to its end. */
async function consumed(): Promise<ReadableStream<Uint8Array>> {
  const stream = new Blob([BYTES]).stream();
  const reader = stream.getReader();
  while (!(await reader.read()).done);
  reader.releaseLock();
  return stream;
}

async function ended(): Promise<Readable> {
  const stream = Readable.from([BYTES]);
  await stream.toArray();
  return stream;
}

describe("bytes", () => {
  it("are the UTF-8 of a string, with their number in result, record and progress", async () => {
    const { client } = await openService();
    const seen: unknown[] = [];
    const { file, bytes } = await client.files.upload(
      { name: "a.txt", body: TEXT },
      { onProgress: (progress) => seen.push(progress) },
    );
    expect([bytes, file.size]).toEqual([BYTES.length, BYTES.length]);
    const { length } = BYTES;
    expect(seen.at(-1)).toEqual({ bytes: length, total: length, storedBytes: length });
    expect(await read(client, file.id)).toBe(TEXT);
    const onProgress = (progress: unknown): void => void seen.push(progress);
    expect((await client.files.replace(file.id, { body: "" }, { onProgress })).bytes).toBe(0);
    expect(seen.at(-1)).toEqual({ bytes: 0, total: 0, storedBytes: 0 });
    expect(await (await client.files.download(file.id, { onProgress })).text()).toBe("");
    expect(seen.at(-1)).toEqual({ bytes: 0, total: 0 });
  });

  it("of a string and of a Blob go in parts and in calls of the contract too", async () => {
    const { client, sent } = await openService();
    const { file } = await client.files.upload({ name: "a.txt", body: TEXT.repeat(20) }, { partBytes: 100 });
    expect(sent.filter(({ method }) => method === "PATCH")).toHaveLength(4);
    expect(await read(client, file.id)).toBe(TEXT.repeat(20));
    const params = { fileId: file.id };
    const headers = { "content-type": "text/plain" };
    for (const body of [TEXT, new Blob([TEXT]), blobOfJsdom(TEXT)]) {
      await client.call(filesGroup.replace, { params, headers, body });
      expect(await read(client, file.id)).toBe(TEXT);
      await client.call(filesGroup.replace, { params, headers, body: "" });
    }
  });

  it.each<[string, () => ByteBody]>([
    ["a Uint8Array", () => BYTES],
    ["a Buffer", () => Buffer.from(TEXT)],
    ["a view on shared memory", () => new Uint8Array(new SharedArrayBuffer(BYTES.length)).fill(0x61)],
    ["a Blob", () => new Blob([TEXT])],
    ["a Blob of jsdom, which has no stream", () => blobOfJsdom(TEXT)],
    ["a web stream", () => new Blob([TEXT]).stream()],
    ["the body of an answer", () => new Response(TEXT).body ?? ""],
    ["a generator", () => chunks(BYTES.subarray(0, 3), BYTES.subarray(3))],
    ["a stream of Node", () => Readable.from([Buffer.from(TEXT)])],
    ["an ArrayBuffer", () => Uint8Array.from(BYTES).buffer],
    ["a DataView", () => new DataView(Uint8Array.from(BYTES).buffer)],
    ["chunks that are other views", () => chunks(new DataView(Uint8Array.from(BYTES).buffer) as never)],
    ["a Response", () => new Response(TEXT)],
    [
      "a Uint8Array of another realm",
      () => runInNewContext("Uint8Array.from(bytes)", { bytes: [...BYTES] }) as Uint8Array,
    ],
    ["a stream of another implementation", () => foreignStream(BYTES)],
  ])("are taken as %s", async (_name, body) => {
    const { client } = await openService();
    const { file, bytes } = await client.files.upload({ name: "a", body: body() });
    expect([bytes, file.size]).toEqual([BYTES.length, BYTES.length]);
  });
});

function blobOfJsdom(text: string): Blob {
  const blob = new Blob([text]);
  const arrayBuffer = (): Promise<ArrayBuffer> => blob.arrayBuffer();
  return { size: blob.size, type: "", slice: blob.slice.bind(blob), arrayBuffer } as unknown as Blob;
}

/** As in jsdom or an iframe: it does what a stream does, and is of another class. */
function foreignStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const stream = new Blob([Uint8Array.from(bytes)]).stream();
  return {
    locked: false,
    getReader: () => stream.getReader(),
    cancel: (reason?: unknown) => stream.cancel(reason),
  } as unknown as ReadableStream<Uint8Array>;
}

const ACCEPTED =
  "body: expected a string, Uint8Array, ArrayBuffer or a view of one, Blob, Response, ReadableStream or AsyncIterable of Uint8Array";
const used = new Response(TEXT);
await used.text();
const WRONG: [string, unknown, string][] = [
  ["undefined", undefined, ""],
  ["null", null, ""],
  ["a number", 5, ""],
  ["a plain object", { secret: "swordfish" }, "JSON.stringify"],
  ["an array", [1, 2], "Uint8Array.from"],
  ["a promise", Promise.resolve(BYTES), "await it"],
  ["a Response that was read", used, "its body was read already"],
  ["a Request", new Request("http://localhost", { method: "PUT", body: TEXT }), "pass its body"],
  ["URLSearchParams", new URLSearchParams({ secret: "swordfish" }), "String(params)"],
  ["FormData", new FormData(), "the file in it"],
];

describe("what is not bytes", () => {
  it.each(WRONG)("%s is refused in words, and nothing is sent", async (_name, body, advice) => {
    const { client, sent } = await openService();
    const wrong = { body: body as ByteBody };
    for (const call of [
      () => client.files.upload({ name: "a", ...wrong }),
      () => client.files.replace("5f0c1d9e-0000-4000-8000-0123456789ab", wrong),
    ]) {
      const error: unknown = await call().then(String, (reason: unknown) => reason);
      expect(error).toMatchObject({ name: "ContractError", code: "invalid_request", retryable: false });
      expect(String(error)).toContain(ACCEPTED);
      expect(String(error)).toContain(advice);
      expect(String(error)).not.toContain("swordfish");
    }
    const low = client.call(filesGroup.upload, { query: { name: "a" }, headers: {}, ...wrong });
    await expect(low).rejects.toMatchObject({ code: "invalid_request", issues: [ACCEPTED] });
    expect(sent).toEqual([]);
  });

  it.each([
    ["a stream that was read", consumed],
    ["a stream of Node that was read", ended],
    [
      "a stream that another reader holds",
      () => {
        const stream = new Blob([BYTES]).stream();
        stream.getReader();
        return Promise.resolve(stream);
      },
    ],
  ])("%s is refused, and nothing is sent: it would make an empty file", async (_name, make) => {
    const { client, sent } = await openService();
    const refusal = { code: "invalid_request", issues: [expect.stringContaining("was read already")] };
    await expect(client.files.upload({ name: "a", body: await make() })).rejects.toMatchObject(refusal);
    await expect(client.files.upload({ name: "a", body: await make(), size: 3 })).rejects.toMatchObject(refusal);
    expect(sent).toEqual([]);
    const low = client.call(filesGroup.upload, { query: { name: "a" }, headers: {}, body: await make() });
    await expect(low).rejects.toMatchObject(refusal);
    expect((await client.files.list()).files).toEqual([]);
  });

  it.each([
    ["text", "abc"],
    ["numbers", 7],
    ["nothing", undefined],
  ])("chunks that are %s are refused, however many came before, and no file is left", async (_name, wrong) => {
    const { client } = await openService();
    const refusal = { code: "invalid_request", issues: [expect.stringContaining("chunks of Uint8Array")] };
    for (const before of [0, 10, 300]) {
      const body = () => chunks(new Uint8Array(before), wrong as unknown as Uint8Array);
      const options = { partBytes: 100 };
      await expect(client.files.upload({ name: "a", body: body() }, options)).rejects.toMatchObject(refusal);
      const sized = client.files.upload({ name: "a", body: body(), size: before + 200 }, options);
      await expect(sized).rejects.toMatchObject(refusal);
      const low = client.call(filesGroup.upload, { query: { name: "a" }, headers: {}, body: body() });
      await expect(low).rejects.toMatchObject(refusal);
    }
    expect((await client.files.list()).files).toEqual([]);
  });

  it("a size that is none is refused too", async () => {
    const { client, sent } = await openService();
    for (const size of [-1, 1.5, Number.NaN, "3"]) {
      const upload = client.files.upload({ name: "a", body: chunks(BYTES), size: size as number });
      const issues = [expect.stringContaining("size: expected a whole number")];
      await expect(upload).rejects.toMatchObject({ code: "invalid_request", issues });
    }
    expect(sent).toEqual([]);
  });
});
