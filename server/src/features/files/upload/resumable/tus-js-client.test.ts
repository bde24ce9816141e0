/** The reference client of the protocol against the server, over a real socket. */
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { DetailedError, Upload, type UploadOptions } from "tus-js-client";
import { type LiveService, openLiveService } from "../../../live-service.ts";

const BYTES = randomBytes(3 * 1024 * 1024 + 17);
const CHUNK = 256 * 1024;

function optionsFor(service: LiveService, more: UploadOptions): UploadOptions {
  return {
    endpoint: `${service.baseUrl}/api/uploads`,
    headers: { authorization: service.authorization },
    chunkSize: CHUNK,
    retryDelays: [0, 50, 100, 200],
    metadata: { filename: "film.bin", filetype: "video/mp4" },
    ...more,
  };
}

/** Runs an upload to its end, or to where `onUpload` stops it. */
function run(
  input: Buffer | Readable,
  options: UploadOptions,
  onUpload: (upload: Upload) => void = start,
): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const upload: Upload = new Upload(input as Buffer, {
      ...options,
      onSuccess: () => resolve(upload),
      onError: reject,
    });
    onUpload(upload);
  });
}

function start(upload: Upload): void {
  upload.start();
}

async function stored(
  service: LiveService,
): Promise<{ name: string; contentType: string; sha256: string; bytes: Buffer }> {
  const { files } = (await (await service.call("/api/files")).json()) as {
    files: { id: string; name: string; contentType: string; sha256: string }[];
  };
  expect(files).toHaveLength(1);
  const [file] = files;
  if (file === undefined) throw new Error("no file");
  const content = await service.call(`/api/files/${file.id}/content`);
  return { ...file, bytes: Buffer.from(await content.arrayBuffer()) };
}

async function expectWhole(service: LiveService): Promise<void> {
  const file = await stored(service);
  expect(file).toMatchObject({
    name: "film.bin",
    contentType: "video/mp4",
    sha256: createHash("sha256").update(BYTES).digest("hex"),
  });
  expect(file.bytes.equals(BYTES)).toBe(true);
}

test("uploads in parts", async () => {
  await using service = await openLiveService();
  const seen: number[] = [];
  await run(BYTES, optionsFor(service, { onChunkComplete: (_size, accepted) => void seen.push(accepted) }));
  expect(seen.at(-1)).toBe(BYTES.length);
  expect(seen.length).toBe(Math.ceil(BYTES.length / CHUNK));
  await expectWhole(service);
});

test("uploads with the first bytes in the creation, and an empty file", async () => {
  await using service = await openLiveService();
  await run(BYTES, optionsFor(service, { uploadDataDuringCreation: true }));
  await expectWhole(service);
  await run(Buffer.alloc(0), optionsFor(service, { metadata: { filename: "empty" } }));
  const { files } = (await (await service.call("/api/files?name=empty")).json()) as { files: { size: number }[] };
  expect(files).toMatchObject([{ size: 0 }]);
});

test("pauses in the middle of a part and resumes where the server stands", async () => {
  await using service = await openLiveService();
  let pauses = 0;
  await new Promise<void>((resolve, reject) => {
    const upload: Upload = new Upload(
      BYTES,
      optionsFor(service, {
        onSuccess: () => resolve(),
        onError: reject,
        onChunkComplete: () => {
          if (pauses >= 5) return;
          pauses += 1;
          upload.abort().then(() => upload.start(), reject);
        },
      }),
    );
    upload.start();
  });
  expect(pauses).toBe(5);
  await expectWhole(service);
});

test("another client goes on with an upload it only knows the address of", async () => {
  await using service = await openLiveService();
  const uploadUrl = await new Promise<string>((resolve, reject) => {
    const upload: Upload = new Upload(
      BYTES,
      optionsFor(service, {
        onError: reject,
        onChunkComplete: (_size, accepted) => {
          if (accepted >= 4 * CHUNK) upload.abort().then(() => resolve(upload.url ?? ""), reject);
        },
      }),
    );
    upload.start();
  });
  const status = await service.call(new URL(uploadUrl).pathname, {
    method: "HEAD",
    headers: { "tus-resumable": "1.0.0" },
  });
  expect(Number(status.headers.get("upload-offset"))).toBeGreaterThanOrEqual(4 * CHUNK);
  await run(BYTES, optionsFor(service, { uploadUrl }));
  await expectWhole(service);
});

test("uploads a stream of known size", async () => {
  await using service = await openLiveService();
  await run(
    Readable.from([BYTES.subarray(0, 1_000_000), BYTES.subarray(1_000_000)]),
    optionsFor(service, { uploadSize: BYTES.length }),
  );
  await expectWhole(service);
});

test("gives an upload up, and is told of a refusal", async () => {
  await using service = await openLiveService();
  await new Promise<void>((resolve, reject) => {
    const upload: Upload = new Upload(
      BYTES,
      optionsFor(service, { onError: reject, onChunkComplete: () => void upload.abort(true).then(resolve, reject) }),
    );
    upload.start();
  });
  const { files } = (await (await service.call("/api/files")).json()) as { files: unknown[] };
  expect(files).toEqual([]);
  const refused = await run(BYTES, optionsFor(service, { metadata: { filename: "a/b" } })).catch(
    (error: unknown) => error,
  );
  if (!(refused instanceof DetailedError)) throw new Error("not refused", { cause: refused });
  expect(refused.originalResponse?.getStatus()).toBe(400);
});
