/** The driver on a real store. What is wrong with a store is in s3/*.test.ts. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { createServer } from "node:tls";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { collect, inChunks } from "../../../../test/kit/bytes.ts";
import { type Certificate, makeCertificates } from "../../../../test/kit/certificates.ts";
import { secureSettingsOf, settingsOf } from "../../../../test/kit/ceph/s3-settings.ts";
import { cephStore, skipWithoutCeph } from "../../../../test/kit/ceph/store.ts";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { describeBlobStore } from "../../../../test/suites/blob-store.ts";
import { openTestDatabase } from "../../storage.test-kit.ts";
import { S3Client } from "./s3/client.ts";
import { PATIENCE } from "./s3/settings.ts";
import { openS3Blobs } from "./s3.ts";

describe("on Ceph", () => {
  beforeEach(skipWithoutCeph);
  describe.each([
    ["s3", settingsOf],
    ["s3 over TLS", secureSettingsOf],
  ])("%s", (name, settingsFor) => {
    describeBlobStore(name, () => openMedium(settingsFor));
  });

  async function openMedium(settingsFor: typeof settingsOf | typeof secureSettingsOf) {
    const settings = settingsFor(await cephStore());
    const directory = makeDirectory();
    const database = await openTestDatabase(directory);
    return {
      survives: true,
      open: () => Promise.resolve(openS3Blobs({ settings, database })),
      async [Symbol.asyncDispose]() {
        await database[Symbol.asyncDispose]();
        await rm(directory, { recursive: true, force: true });
      },
    };
  }

  it("a deleted blob can be read where the bucket keeps versions, and is null where it does not", async () => {
    const settings = { ...settingsOf(await cephStore()), bucket: `versions-${randomUUID()}` };
    const { accessKeyId, secretAccessKey, region } = settings;
    const store = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3" });
    const bucket = `${settings.endpoint}/${settings.bucket}`;
    await store.fetch(bucket, { method: "PUT" });
    await using database = await openTestDatabase(makeDirectory());
    await using blobs = openS3Blobs({ settings, database });
    const removed = async (key: string): Promise<string | null> => {
      await blobs.put(key, inChunks(Buffer.from(key), 5));
      await blobs.delete(key);
      expect(await blobs.open(key)).toBeNull();
      const bytes = await blobs.openDeleted?.(key);
      return bytes == null ? null : (await collect(bytes)).toString();
    };
    expect(await removed("not-kept-at-all")).toBeNull();
    const body = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
    expect((await store.fetch(`${bucket}?versioning`, { method: "PUT", body })).status).toBe(200);
    expect(await removed("kept-as-a-version")).toBe("kept-as-a-version");
  });

  it("an address of a blob ends when its time is over", async () => {
    const client = new S3Client(settingsOf(await cephStore()), PATIENCE);
    onTestFinished(() => client.close());
    const address = await client.addressOf("blobs/none", 4);
    // Whoever may look is told that there is nothing.
    expect((await fetch(address)).status).toBe(404);
    await sleep(5_100);
    expect((await fetch(address)).status).toBe(403);
  });

  it("over TLS it is used where the named authority vouches for its host; else nothing is stored, and the error says why", async (context) => {
    const certificates = makeCertificates();
    if (certificates === null) return context.skip("openssl is not installed");
    const settings = settingsOf(await cephStore());
    const directory = makeDirectory();
    await using database = await openTestDatabase(directory);
    const attempt = async (certificate: Certificate, trust: string | null): Promise<string> => {
      await using front = await openFront(settings.endpoint, certificate);
      await using blobs = openS3Blobs({ settings: { ...settings, endpoint: front.endpoint, trust }, database });
      await blobs.put("over-tls", inChunks(Buffer.from("over TLS")));
      return (await collect(await blobs.open("over-tls"))).toString();
    };
    const { good, otherName, expired, untrusted, trust } = certificates;
    expect(await attempt(good, trust)).toBe("over TLS");
    for (const [certificate, why] of [
      [untrusted, /no authority that is trusted/],
      [expired, /CERT_HAS_EXPIRED/],
      [otherName, /for another name/],
    ] as const)
      await expect(attempt(certificate, trust)).rejects.toThrow(why);
    await expect(attempt(good, null)).rejects.toThrow(/no authority that is trusted/);
  });
});

/** The store behind TLS, as a proxy gives it. */
async function openFront(endpoint: string, certificate: Certificate) {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer(certificate, (socket) => {
    const onward = connect(Number(new URL(endpoint).port), "127.0.0.1");
    for (const one of [socket, onward]) sockets.add(one.on("error", () => void onward.destroy()));
    socket.pipe(onward).pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    endpoint: `https://localhost:${typeof address === "object" ? String(address?.port) : ""}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
