import { api } from "@coffer/contract";
import { AbortError, ApiError, IntegrityError, type TransportRequest } from "@coffer/sdk";
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import {
  changeBodies,
  corruptOnce,
  countedSignal,
  loseAnswers,
  recorder,
  sampleBytes,
  type Accounts,
} from "./client-subject.ts";

const PART = 64 * 1024;
const BYTES = sampleBytes(PART * 4 + 99, 9);
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const isPart = (request: TransportRequest): boolean =>
  request.method === "PATCH" && request.url.includes("/api/uploads/");
const isContent = (request: TransportRequest): boolean => request.method === "GET" && request.url.endsWith("/content");

/** Lost answers, damaged bytes, aborts. */
export function recoverySuite(accounts: () => Accounts): void {
  it("repeats a creation whose answer was lost with the same key, and makes one thing", async () => {
    const wire = recorder();
    const lost = loseAnswers((request) => request.method === "POST" && request.url.endsWith("/api/vaults"), 2);
    const { client } = await accounts().signup({ middleware: [wire.middleware, lost] });
    const vault = await client.vaults.create({ name: "once", type: "public" });
    const keys = wire.requests.map((request) => request.headers.get("idempotency-key"));
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(wire.requests.map((request) => request.headers.get("x-retry-count"))).toEqual([null, "1", "2"]);
    expect((await client.vaults.list()).vaults.filter(({ name }) => name === "once").map(({ id }) => id)).toEqual([
      vault.id,
    ]);
  });

  it("takes the 404 of a repeated delete as done [D1-sdk-delete-retry] [D1-second-delete-gone]", async () => {
    const lost = loseAnswers((request) => request.method === "DELETE");
    const { client } = await accounts().signup({ middleware: [lost] });
    const vault = await client.vaults.create({ name: "brief", type: "public" });
    await client.vaults.delete(vault.id, { permanent: true });
    await expect(client.vaults.delete(vault.id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("goes on where the server stands when the answer to a part was lost, the last one too", async () => {
    const { client } = await accounts().signup({
      middleware: [
        loseAnswers(isPart, 2),
        loseAnswers((request) => isPart(request) && request.headers.get("upload-offset") === String(PART * 4)),
      ],
    });
    const result = await client.files.upload({ name: "resumed", body: BYTES }, { partBytes: PART });
    expect(result.sha256).toBe(SHA256);
    expect(Buffer.compare(await (await client.files.download(result.file.id)).bytes(), BYTES)).toBe(0);
  });

  it("sends a damaged part and a damaged body again [D5-tus-checksum] [D5-upload-digest]", async () => {
    const { client } = await accounts().signup({
      middleware: [corruptOnce(isPart), corruptOnce((request) => request.url.includes("name=whole"))],
    });
    const seen: number[] = [];
    const parts = await client.files.upload(
      { name: "parts", body: BYTES },
      { partBytes: PART, onProgress: ({ bytes }) => seen.push(bytes) },
    );
    expect(parts.sha256).toBe(SHA256);
    expect(seen.some((bytes, index) => bytes < (seen[index - 1] ?? 0))).toBe(true);
    expect((await client.files.upload({ name: "whole", body: BYTES })).sha256).toBe(SHA256);
  });

  it("takes a broken download up where it broke", async () => {
    const wire = recorder();
    const breakAfter = changeBodies(isContent, (body) => failAfter(body, 100_000), 2);
    const { client } = await accounts().signup({ middleware: [wire.middleware, breakAfter] });
    const { file } = await client.files.upload({ name: "broken", body: BYTES });
    const download = await client.files.download(file.id);
    expect(Buffer.compare(await download.bytes(), BYTES)).toBe(0);
    expect(wire.requests.filter(isContent).map((request) => request.headers.get("range"))).toEqual([
      null,
      expect.stringMatching(/^bytes=\d+-262242$/),
      expect.stringMatching(/^bytes=\d+-262242$/),
    ]);
  });

  it("fails a download whose bytes are damaged or end early", async () => {
    const { client, apiKey } = await accounts().signup();
    const { file } = await client.files.upload({ name: "whole", body: BYTES });
    const damaged = accounts().connect(apiKey, {
      middleware: [changeBodies(isContent, (body) => body.pipeThrough(flipFirstBit()))],
    });
    await expect((await damaged.files.download(file.id)).bytes()).rejects.toThrow(IntegrityError);
    const short = accounts().connect(apiKey, {
      middleware: [changeBodies(isContent, (body) => endAfter(body, 100_000), 9)],
    });
    await expect((await short.files.download(file.id)).bytes()).rejects.toThrow(IntegrityError);
  });

  it("an aborted upload leaves nothing behind: no session on the server, no listener on the signal", async () => {
    const wire = recorder();
    const { client } = await accounts().signup({ middleware: [wire.middleware] });
    const { controller, listeners } = countedSignal();
    const upload = client.files.upload(
      { name: "given up", body: BYTES },
      {
        partBytes: PART,
        signal: controller.signal,
        onProgress: ({ bytes }) => {
          if (bytes > PART * 2) controller.abort();
        },
      },
    );
    await expect(upload).rejects.toThrow(AbortError);
    expect(listeners()).toBe(0);
    const uploadId =
      wire.sent.map((line) => /^DELETE \/api\/uploads\/(.+)$/.exec(line)?.[1]).find((id) => id !== undefined) ?? "";
    const left: unknown = await client
      .call(api.uploads.head, { params: { uploadId }, headers: { "tus-resumable": "1.0.0" } })
      .catch((error: unknown) => error);
    expect(left).toBeInstanceOf(ApiError);
    expect([404, 410]).toContain(left instanceof ApiError ? left.status : 0);
    expect((await client.files.list({ name: "given up" })).files).toEqual([]);
  });

  it("leaves no listener on the signal after calls and downloads, read or cancelled", async () => {
    const { client } = await accounts().signup();
    const { controller, listeners } = countedSignal();
    const { signal } = controller;
    const { file } = await client.files.upload({ name: "short", body: BYTES }, { signal });
    await client.files.get(file.id, { signal });
    await (await client.files.download(file.id, { signal })).bytes();
    await (await client.files.download(file.id, { signal })).stream.cancel();
    expect(listeners()).toBe(0);
  });
}

/** The first `length` bytes, then an error as of a broken connection. */
function failAfter(body: ReadableStream<Uint8Array>, length: number): ReadableStream<Uint8Array> {
  return cut(body, length, (controller) => {
    controller.error(new TypeError("terminated"));
  });
}

/** The first `length` bytes as if they were all. */
function endAfter(body: ReadableStream<Uint8Array>, length: number): ReadableStream<Uint8Array> {
  return cut(body, length, (controller) => {
    controller.close();
  });
}

function cut(
  body: ReadableStream<Uint8Array>,
  length: number,
  end: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = length;
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await reader.read();
        if (next.done) {
          controller.close();
          return;
        }
        const chunk = next.value.subarray(0, left);
        left -= chunk.length;
        if (chunk.length > 0) controller.enqueue(chunk);
        if (left > 0) return;
        await reader.cancel();
        end(controller);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function flipFirstBit(): TransformStream<Uint8Array, Uint8Array> {
  let done = false;
  return new TransformStream({
    transform(chunk, controller) {
      const copy = new Uint8Array(chunk);
      if (!done) copy[0] = (copy[0] ?? 0) ^ 1;
      done = true;
      controller.enqueue(copy);
    },
  });
}
