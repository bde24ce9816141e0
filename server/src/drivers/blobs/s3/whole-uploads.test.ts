/** Which parts a blob that comes in one go has, and what is signed. The store is a stand-in that counts. */
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inChunks } from "../../../../../test/kit/bytes.ts";
import { makeCertificates } from "../../../../../test/kit/certificates.ts";
import { settingsOf } from "../../../../../test/kit/ceph/s3-settings.ts";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { listenOnLoopback } from "../../../../../test/kit/loopback.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { openTestDatabase } from "../../../storage.test-kit.ts";
import { openS3Blobs } from "../s3.ts";
import { PATIENCE, type S3Settings } from "./settings.ts";

const MIB = 1024 * 1024;
const LONG = Buffer.alloc(65 * MIB, "long");
/** "begin", and the sizes of parts, as they were asked for; of each object by its name. */
const asked = new Map<string, (number | "begin")[]>();
/** What bodies of each object were signed with. */
const signed = new Map<string, Set<string>>();
const certificates = makeCertificates();
let store: BlobStore;
let open: (change: Partial<S3Settings>) => BlobStore;
let secureEndpoint: string;
const opened = new AsyncDisposableStack();

async function listen(isSecure: boolean): Promise<string> {
  const sizes = new Map<string, number>();
  const certificate = isSecure ? (certificates?.good ?? null) : null;
  const server = await listenOnLoopback(
    async (request, response) => {
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
        signed.set(name, (signed.get(name) ?? new Set()).add(String(request.headers["x-amz-content-sha256"])));
        if (searchParams.has("partNumber")) of.push(bytes);
        response.setHeader("etag", '"tag"').end();
      } else if (request.method === "POST") {
        sizes.set(
          name,
          of.reduce<number>((sum, part) => sum + (part === "begin" ? 0 : part), 0),
        );
        response.end("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
      } else response.writeHead(size === undefined ? 404 : 200, { "content-length": String(size ?? 0) }).end();
    },
    5_000,
    certificate,
  );
  opened.use(server);
  return server.baseUrl;
}

beforeAll(async () => {
  const endpoint = await listen(false);
  secureEndpoint = await listen(true);
  const database = opened.use(await openTestDatabase(makeDirectory()));
  const place = { endpoint, accessKeyId: "key", secretAccessKey: "secret", bucket: "bucket", prefix: "" };
  open = (change) => {
    const settings = { ...settingsOf(place), ...change };
    return opened.use(openS3Blobs({ settings, database, patience: { ...PATIENCE, attempts: 1, silence: 2_000 } }));
  };
  store = open({});
});
afterAll(() => opened.disposeAsync());

/** In MiB, the largest first: several are on their way at once. */
function partsOf(key: string): number[] {
  const [begun, ...parts] = asked.get(key) ?? [];
  expect(begun).toBe("begin");
  return parts.map((part) => Number(part) / MIB).sort((one, other) => other - one);
}

it("a blob that is longer than a part has parts of 16 MiB, also beside another one and of unknown length", async () => {
  await Promise.all([
    store.put("key-known", inChunks(LONG, 65_536), { length: LONG.length }),
    store.put("key-unknown", inChunks(LONG, 65_536)),
  ]);
  for (const key of ["key-known", "key-unknown"]) expect(partsOf(key)).toEqual([16, 16, 16, 16, 1]);
});

it("bodies are signed over http, over https only where that is asked for, and digests are the same", async (context) => {
  if (certificates === null) return context.skip("openssl is not installed");
  const trust = certificates.trust;
  const secure = open({ endpoint: secureEndpoint, trust });
  const forced = open({ endpoint: secureEndpoint, trust, bodies: "signed" });
  const receipts = new Set<string>();
  const SHORT = LONG.subarray(0, 20 * MIB);
  for (const [way, blobs] of Object.entries({ plain: store, secure, forced })) {
    for (const options of [{ length: SHORT.length }, {}])
      receipts.add((await blobs.put(`key-${way}-${Object.keys(options).length}`, inChunks(SHORT), options)).sha256);
    await blobs.put(`key-${way}-small`, inChunks(Buffer.from("small")), { length: 5 });
  }
  expect(receipts.size).toBe(1);
  for (const kind of ["0", "1", "small"]) {
    expect([...(signed.get(`key-secure-${kind}`) ?? [])]).toEqual(["UNSIGNED-PAYLOAD"]);
    for (const way of ["plain", "forced"])
      for (const digest of signed.get(`key-${way}-${kind}`) ?? []) expect(digest).toMatch(/^[0-9a-f]{64}$/);
  }
  expect(signed.get("key-plain-0")?.size).toBe(2);
});
