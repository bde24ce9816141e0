/** Downloads from the store itself: the server, the SDK and a real store (decision 0129). */
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { createClient } from "@coffer/sdk";
import { nodeTransport } from "@coffer/sdk/node";
import { parseConfig, startServer } from "@coffer/server";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { patternBytes } from "../kit/bytes.ts";
import { type CephStore, cephStore, skipWithoutCeph } from "../kit/ceph/store.ts";
import { FAULTS, openFaultProxy } from "../kit/ceph/fault-proxy.ts";
import { makeDirectory } from "../kit/directory.ts";

const BYTES = patternBytes("redirected", 9 * 1024 * 1024 + 11);

beforeEach(skipWithoutCeph);

interface Scene extends AsyncDisposable {
  readonly baseUrl: string;
  readonly key: string;
  readonly store: string;
  log(): string;
  /** How often the server read from the store, and how many addresses it gave. */
  counts(): Promise<{ readonly read: number; readonly given: number }>;
}

/** A server with its contents in Ceph, at the endpoint that is chosen. */
async function openScene(place: CephStore, endpoint: string, caFile?: string): Promise<Scene> {
  const lines: string[] = [];
  const directory = makeDirectory();
  const config = parseConfig({
    SERVICE_ENV: "development",
    SERVICE_HOST: "127.0.0.1",
    SERVICE_PORT: "0",
    SERVICE_DATA_DIR: directory,
    SERVICE_BLOBS_URL: `${endpoint}/${place.bucket}/${place.prefix}`,
    SERVICE_BLOBS_ACCESS_KEY_ID: place.accessKeyId,
    SERVICE_BLOBS_SECRET_ACCESS_KEY: place.secretAccessKey,
    SERVICE_BLOB_REDIRECT: "presigned",
    SERVICE_BLOBS_CA_FILE: caFile ?? "",
  });
  const write = (bytes: Uint8Array): void => void lines.push(new TextDecoder().decode(bytes));
  const server = await startServer(config, { logSink: { write } });
  const signup = await fetch(`${server.baseUrl}/api/auth/dev-signup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: "owner@example.test" }),
  });
  const { apiKey: key } = (await signup.json()) as { apiKey: string };
  const counts = async () => {
    const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
    const of = (operation: string): number =>
      Number(
        new RegExp(String.raw`coffer_blob_store_requests_total\{operation="${operation}",outcome="done"\} (\d+)`).exec(
          text,
        )?.[1] ?? 0,
      );
    return { read: of("get"), given: of("address") };
  };
  return {
    baseUrl: server.baseUrl,
    key,
    store: new URL(endpoint).origin,
    log: () => lines.join(""),
    counts,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** A client of this scene, with what it was sent to. */
function clientOf({ baseUrl, key, store }: Pick<Scene, "baseUrl" | "key" | "store">) {
  return createClient({ baseUrl, credentials: { apiKey: key }, transport: nodeTransport({ contentOrigins: [store] }) });
}

async function addressOf({ baseUrl, key, store }: Scene, id: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, "coffer-content-origins": store };
  const answer = await fetch(`${baseUrl}/api/files/${id}/content`, { headers, redirect: "manual" });
  expect(answer.status).toBe(307);
  return answer.headers.get("location") ?? "";
}

describe("a file of a public vault on Ceph", () => {
  it("comes from the store, whole and in part, and the server reads nothing", async () => {
    const place = await cephStore();
    await using scene = await openScene(place, place.endpoint);
    const client = clientOf(scene);
    const { file } = await client.files.upload({ name: "a.bin", body: BYTES });
    const before = await scene.counts();
    const whole = await client.files.download(file.id);
    expect(Buffer.from(await whole.bytes()).equals(BYTES)).toBe(true);
    const part = await client.files.download(file.id, { range: { offset: 1_000_001, length: 5_000_000 } });
    expect(Buffer.from(await part.bytes()).equals(BYTES.subarray(1_000_001, 6_000_001))).toBe(true);
    const end = await client.files.download(file.id, { range: { offset: BYTES.length - 3 } });
    expect(Buffer.from(await end.bytes()).equals(BYTES.subarray(-3))).toBe(true);
    // The client looks at the beginning of the file besides, for each part.
    expect(await scene.counts()).toEqual({ read: before.read, given: before.given + 5 });
    // The same client without the option has all of it from the service.
    const plain = createClient({
      baseUrl: scene.baseUrl,
      credentials: { apiKey: scene.key },
      transport: nodeTransport(),
    });
    expect(Buffer.from(await (await plain.files.download(file.id)).bytes()).equals(BYTES)).toBe(true);
    expect((await scene.counts()).read).toBeGreaterThan(before.read);
  });

  it("has an address that names the blob alone, ends, renders nothing and is in no log", async () => {
    const place = await cephStore();
    await using scene = await openScene(place, place.endpoint);
    const client = clientOf(scene);
    const page = Buffer.from("<script>document.write('of a stranger')</script>");
    const { file } = await client.files.upload({ name: "a.html", body: page, contentType: "text/html" });
    const address = new URL(await addressOf(scene, file.id));
    const answer = await fetch(address);
    expect([answer.status, await answer.text()]).toEqual([200, page.toString()]);
    expect([
      answer.headers.get("content-type"),
      answer.headers.get("content-disposition"),
      answer.headers.get("cache-control"),
    ]).toEqual(["application/octet-stream", "attachment", "no-store"]);
    const changed = async (change: (url: URL) => void): Promise<number> => {
      const other = new URL(address);
      change(other);
      return (await fetch(other)).status;
    };
    expect(await changed((url) => url.searchParams.set("X-Amz-Expires", "6000"))).toBe(403);
    expect(await changed((url) => url.searchParams.set("response-content-type", "text/html"))).toBe(403);
    expect(await changed((url) => url.searchParams.delete("response-content-disposition"))).toBe(403);
    expect(await changed((url) => (url.pathname = `/${place.bucket}/`))).toBe(403);
    expect((await fetch(address, { method: "DELETE" })).status).toBe(403);
    await sleep(100);
    expect(scene.log()).toContain('"status":307');
    expect(scene.log()).not.toMatch(/X-Amz|Signature|blobs\/[0-9a-f]/);
    expect(scene.log()).not.toContain(place.prefix);
  });

  it("goes on where the store broke off, and comes from the service when the store fails", async () => {
    const place = await cephStore();
    await using front = await openFaultProxy(place.endpoint);
    await using scene = await openScene(place, front.endpoint);
    const client = clientOf(scene);
    const { file } = await client.files.upload({ name: "a.bin", body: BYTES });
    const read = async (): Promise<number> => {
      const before = (await scene.counts()).read;
      expect(Buffer.from(await (await client.files.download(file.id)).bytes()).equals(BYTES)).toBe(true);
      return (await scene.counts()).read - before;
    };
    const isSigned = ({ path }: { readonly path: string }): boolean => path.includes("X-Amz-Signature");
    let broken = 0;
    front.inject((asked) => (isSigned(asked) && (broken += 1) === 1 ? { kind: "truncated", bytes: 5_000 } : null));
    expect(await read()).toBe(0);
    expect(front.asked.filter(isSigned)).toHaveLength(2);
    front.inject((asked) => (isSigned(asked) ? FAULTS["500"] : null));
    expect(await read()).toBe(1);
    expect(inspect(client)).not.toContain("X-Amz");
  });

  it("comes over TLS where this process trusts the store, and from the service where it does not", async () => {
    const place = await cephStore();
    const { writeFileSync } = await import("node:fs");
    const caFile = `${makeDirectory()}/ca.pem`;
    writeFileSync(caFile, place.certificate);
    await using scene = await openScene(place, place.secureEndpoint, caFile);
    const { file } = await clientOf(scene).files.upload({ name: "a.bin", body: BYTES });
    const read = async (): Promise<number> => {
      const before = (await scene.counts()).read;
      expect(Buffer.from(await (await clientOf(scene).files.download(file.id)).bytes()).equals(BYTES)).toBe(true);
      return (await scene.counts()).read - before;
    };
    expect(await read()).toBeGreaterThan(0);
    const system = getCACertificates("default");
    onTestFinished(() => setDefaultCACertificates(system));
    setDefaultCACertificates([...system, place.certificate]);
    expect(await read()).toBe(0);
  });
});
