/** Which parts a blob that comes in one go has, and when its upload begins. The store is a stand-in that counts. */
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inChunks } from "../../../../../test/kit/bytes.ts";
import { settingsOf } from "../../../../../test/kit/ceph/s3-settings.ts";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { listenOnLoopback } from "../../../../../test/kit/loopback.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { openTestDatabase } from "../../../test-storage.ts";
import { openS3Blobs } from "../s3.ts";

const MIB = 1024 * 1024;
const LONG = Buffer.alloc(41 * MIB, "long");
/** "begin", and the sizes of parts, as they were asked for; of each object by its name. */
const asked = new Map<string, (number | "begin")[]>();
let store: BlobStore;
let end: () => Promise<void>;

beforeAll(async () => {
  const sizes = new Map<string, number>();
  const server = await listenOnLoopback(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://store");
    const name = pathname.split("/").at(-1) ?? "";
    const of = asked.get(name) ?? [];
    asked.set(name, of);
    request.resume();
    await once(request, "end");
    const bytes = Number(request.headers["content-length"] ?? 0);
    const size = sizes.get(name);
    if (request.method === "POST" && searchParams.has("uploads")) {
      of.push("begin");
      response.end("<InitiateMultipartUploadResult><UploadId>upload</UploadId></InitiateMultipartUploadResult>");
    } else if (request.method === "PUT") {
      if (searchParams.has("partNumber")) of.push(bytes);
      response.setHeader("etag", '"tag"').end();
    } else if (request.method === "POST") {
      sizes.set(
        name,
        of.reduce<number>((sum, part) => sum + (part === "begin" ? 0 : part), 0),
      );
      response.end("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
    } else response.writeHead(size === undefined ? 404 : 200, { "content-length": String(size ?? 0) }).end();
  });
  const place = {
    endpoint: server.baseUrl,
    accessKeyId: "key",
    secretAccessKey: "secret",
    bucket: "bucket",
    prefix: "",
  };
  const database = await openTestDatabase(makeDirectory());
  store = openS3Blobs({ settings: settingsOf(place), database });
  end = async () => {
    await store[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
});
afterAll(() => end());

/** In MiB, the largest first: several are on their way at once. */
function partsOf(key: string): number[] {
  const [begun, ...parts] = asked.get(key) ?? [];
  expect(begun).toBe("begin");
  return parts.map((part) => Number(part) / MIB).sort((one, other) => other - one);
}

it("a long blob has large parts while it is the only one, and the least ones beside another", async () => {
  const put = (key: string) => store.put(key, inChunks(LONG, 65_536), { length: LONG.length });
  await put("key-alone");
  expect(partsOf("key-alone")).toEqual([10, 10, 10, 10, 1]);
  await Promise.all([put("key-first"), put("key-second")]);
  expect(partsOf("key-first")[0]).toBe(10);
  expect(partsOf("key-second")[0]).toBe(5);
  await put("key-again");
  expect(partsOf("key-again")[0]).toBe(10);
});

it("an upload of a known length begins before any of its bytes are there, and one of unknown length when a part is full", async () => {
  const hold = Promise.withResolvers<undefined>();
  async function* late() {
    await hold.promise;
    yield* inChunks(LONG.subarray(0, 6 * MIB), 65_536);
  }
  const putting = store.put("key-known", late(), { length: 6 * MIB });
  const other = store.put("key-unknown", late());
  await expect.poll(() => asked.get("key-known")).toEqual(["begin"]);
  expect(asked.get("key-unknown") ?? []).toEqual([]);
  hold.resolve(undefined);
  await Promise.all([putting, other]);
  expect(partsOf("key-known")).toEqual([5, 1]);
  expect(partsOf("key-unknown")).toEqual([5, 1]);
});
