/** A real store that fails now and then: what was acknowledged is there, and nothing else is left behind. */
import { rm } from "node:fs/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { allOf, collect, inChunks, patternBytes, sha256Of } from "../../../../test/kit/bytes.ts";
import {
  type AskedOfStore,
  type Fault,
  type FaultProxy,
  FAULTS,
  openFaultProxy,
} from "../../../../test/kit/ceph/fault-proxy.ts";
import { makeCertificates } from "../../../../test/kit/certificates.ts";
import { settingsOf } from "../../../../test/kit/ceph/s3-settings.ts";
import { cephStore, skipWithoutCeph } from "../../../../test/kit/ceph/store.ts";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { type BlobStore, BlobStoreAwayError } from "../../ports/blob-store.ts";
import { openTestDatabase } from "../../storage.test-kit.ts";
import { openS3Blobs } from "./s3.ts";

const MIB = 1024 * 1024;
const SMALL = patternBytes("small", 200_000);
const LARGE = patternBytes("large", 18 * MIB + 7);
/** With full counts each request meets each fault. */
const STEP = process.env["COFFER_TEST_COUNTS"] === "full" ? 1 : 24;
const PATIENCE = { attempts: 4, within: 10_000, firstWait: 5, longestWait: 20, silence: 2_000 };

interface Scene extends AsyncDisposable {
  readonly store: BlobStore;
  readonly proxy: FaultProxy;
}

/** How the driver reaches the store: over TLS no body is signed. */
type Way = "http" | "https";
/** In the short run, the one that production uses. */
const WAYS: readonly Way[] = process.env["COFFER_TEST_COUNTS"] === "full" ? ["http", "https"] : ["https"];
const certificates = makeCertificates();

async function openScene(way: Way): Promise<Scene> {
  const place = await cephStore();
  const certificate = way === "https" ? (certificates?.good ?? null) : null;
  const proxy = await openFaultProxy(place.endpoint, certificate);
  const directory = makeDirectory();
  const database = await openTestDatabase(directory);
  expect(proxy.endpoint.startsWith(`${way}:`), "openssl makes the certificate").toBe(true);
  const settings = { ...settingsOf({ ...place, endpoint: proxy.endpoint }), trust: certificate?.cert ?? null };
  const store = openS3Blobs({ settings, database, patience: PATIENCE });
  // What the store can do is known before anything fails.
  await store.put("before-the-faults", inChunks(Buffer.from("x")));
  await store.delete("before-the-faults");
  return {
    store,
    proxy,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** For the n-th request alone. Only writes are answered with a body that says otherwise than the status. */
function nth(fault: Fault, at: number, from: number): (asked: AskedOfStore) => Fault | null {
  const lies = fault.kind === "answer" && fault.status === 200;
  return (asked) => (asked.at === from + at && !(lies && !/^P/.test(asked.method)) ? fault : null);
}

/** As the sweep does with what is old enough: an upload whose beginning was answered by nobody is one that no row names. */
async function sweep(store: BlobStore): Promise<void> {
  for (const { key, complete } of await allOf(store.list())) {
    expect(complete).toBe(false);
    await store.discard(key);
  }
  expect(await allOf(store.list())).toEqual([]);
}

async function requireWhole(store: BlobStore, key: string, bytes: Buffer): Promise<void> {
  expect((await collect(await store.open(key))).equals(bytes)).toBe(true);
}

async function resumable(store: BlobStore, key: string, bytes: Buffer): Promise<void> {
  await store.start(key, { length: bytes.length });
  for (let at = 0; at < bytes.length;) {
    // A client asks where to go on.
    at = (await store.partialLength(key)) ?? Number.NaN;
    at = await store.append(key, at, inChunks(bytes.subarray(at, at + 9 * MIB), MIB));
  }
  expect(await store.complete(key)).toEqual({ size: bytes.length, sha256: sha256Of(bytes) });
}

const WORK: Readonly<Record<string, (store: BlobStore, key: string) => Promise<Buffer>>> = {
  "a put in one request": async (store, key) => {
    expect((await store.put(key, inChunks(SMALL, 65_536))).sha256).toBe(sha256Of(SMALL));
    return SMALL;
  },
  "a put in parts": async (store, key) => {
    const receipt = await store.put(key, inChunks(LARGE, MIB), { length: LARGE.length });
    expect(receipt.sha256).toBe(sha256Of(LARGE));
    return LARGE;
  },
  "a resumable upload": async (store, key) => {
    await resumable(store, key, LARGE);
    return LARGE;
  },
};

const ONCE = Object.entries<Fault>(FAULTS).filter(([name]) => name !== "503" && name !== "SlowDown");

describe.each(WAYS)("a store that fails once, over %s", (way) => {
  beforeEach(skipWithoutCeph);

  for (const [turn, [name, fault]] of ONCE.entries())
    it(`with ${name}, at any request, costs nothing that was acknowledged`, async () => {
      await using scene = await openScene(way);
      const { store, proxy } = scene;
      for (const [title, work] of Object.entries(WORK))
        for (let at = 1 + (turn % STEP), met = true; met; at += STEP) {
          const key = `key-${title.replaceAll(" ", "-")}-${String(at)}`;
          const from = proxy.asked.length;
          proxy.inject(nth(fault, at, from));
          const bytes = await work(store, key);
          await requireWhole(store, key, bytes);
          met = proxy.asked.length - from >= at;
          proxy.inject(() => null);
          await store.delete(key);
        }
      await sweep(store);
    });
});

describe.each(WAYS)("a store that goes on failing, over %s", (way) => {
  beforeEach(skipWithoutCeph);

  for (const name of ["500", "503", "SlowDown", "reset at the start", "reset half-way"] as const)
    it(`with ${name}: a put rejects as away, and leaves nothing once the store is back`, async () => {
      await using scene = await openScene(way);
      const { store, proxy } = scene;
      for (const bytes of [SMALL, LARGE])
        for (const after of bytes === SMALL ? [0] : [0, 1, 3]) {
          const from = proxy.asked.length;
          proxy.inject((asked) => (asked.at > from + after && asked.method !== "DELETE" ? FAULTS[name] : null));
          const key = `fails-${String(bytes.length)}-${String(after)}`;
          const options = after === 0 ? { length: bytes.length } : {};
          await expect(store.put(key, inChunks(bytes, MIB), options)).rejects.toThrow(BlobStoreAwayError);
          await expect(store.ping()).rejects.toThrow(BlobStoreAwayError);
          proxy.inject(() => null);
          await store.ping();
          expect(await store.open(key)).toBeNull();
        }
      expect(await allOf(store.list())).toEqual([]);
    });

  it("during an append: what was durable is there, and another part of the same place goes on", async () => {
    await using scene = await openScene(way);
    const { store, proxy } = scene;
    const key = "append-that-fails";
    await store.start(key);
    await store.append(key, 0, inChunks(LARGE.subarray(0, 9 * MIB), MIB));
    proxy.inject(({ method }) => (method === "PUT" ? FAULTS["500 after it was done"] : null));
    await expect(store.append(key, 9 * MIB, inChunks(patternBytes("lost", 9 * MIB), MIB))).rejects.toThrow(
      BlobStoreAwayError,
    );
    proxy.inject(() => null);
    expect(await store.partialLength(key)).toBe(9 * MIB);
    await store.append(key, 9 * MIB, inChunks(LARGE.subarray(9 * MIB), MIB));
    expect(await store.complete(key)).toEqual({ size: LARGE.length, sha256: sha256Of(LARGE) });
    await requireWhole(store, key, LARGE);
  });

  it("slowly: a store that is silent for too long is away, and one that is slow is not", async () => {
    await using scene = await openScene(way);
    const { store, proxy } = scene;
    proxy.inject(() => ({ kind: "slow", wait: 300 }));
    await store.put("slow-but-there", inChunks(SMALL));
    await requireWhole(store, "slow-but-there", SMALL);
    proxy.inject(() => ({ kind: "slow", wait: 6_000 }));
    await expect(store.put("too-slow-to-wait", inChunks(SMALL))).rejects.toThrow(BlobStoreAwayError);
  });
});
