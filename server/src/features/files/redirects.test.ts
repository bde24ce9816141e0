/** Who is sent to the store for a content, and what is said then; decision 0129. The store is a stand-in that gives addresses. */
import { describe, expect, test } from "vitest";
import { recordSecret } from "../../../../test/kit/secret-recorder.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import { systemClock } from "../../ports/clock.ts";
import { Reply } from "../../handler.ts";
import { openMemoryBlobs } from "../../storage.test-kit.ts";
import { openTestApp, type TestAnswer, type TestApp } from "../../app.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { contextOf, openTestService } from "../service.test-kit.ts";
import { openWriting, put } from "./shared-files.test-kit.ts";

const ORIGIN = "https://s3.example.com";
const FOLLOWS = { "coffer-content-origins": `https://other.example ${ORIGIN}` };
const SIGNATURE = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";

/** Gives addresses as the driver does; the blobs are in memory. */
function giving(blobs: BlobStore): BlobStore {
  const addressOf: BlobStore["addressOf"] = (key, origins) =>
    Promise.resolve(origins.includes(ORIGIN) ? `${ORIGIN}/bucket/${key}?X-Amz-Signature=${SIGNATURE}` : null);
  return Object.assign(blobs, { addressOf });
}

interface Scene extends AsyncDisposable {
  readonly app: TestApp;
  readonly key: string;
  readonly id: string;
}

async function openScene(): Promise<Scene> {
  const app = await openTestApp({ replace: ({ clock }) => ({ blobs: giving(openMemoryBlobs({ clock })) }) });
  const { key } = await app.signUp();
  return { app, key, id: await upload(app, key, "content"), [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

async function upload(app: TestApp, key: string, payload: string): Promise<string> {
  const headers = { "content-type": "text/html" };
  const { body } = await app.ask("POST", `/api/files?name=${String(payload.length)}.html`, { key, payload, headers });
  return (body["file"] as { id: string }).id;
}

describe("a content of a public vault", () => {
  const scene = ofEachTest(openScene);
  const get = (headers: Record<string, string> = FOLLOWS, id = scene.id): Promise<TestAnswer> =>
    scene.app.ask("GET", `/api/files/${id}/content`, { key: scene.key, headers });

  test("is at the store for a client that names its origin; what describes the content stays", async () => {
    const { status, headers, text } = await get();
    const plain = (await get({})).headers;
    expect([status, text]).toEqual([307, ""]);
    expect(headers["location"]).toMatch(/^https:\/\/s3\.example\.com\/bucket\/[\w-]+\?X-Amz-Signature=/);
    expect(headers).toMatchObject({
      "cache-control": "private, no-store",
      "referrer-policy": "no-referrer",
      "content-length": "0",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
    });
    for (const name of ["etag", "last-modified", "repr-digest", "content-type", "content-disposition", "accept-ranges"])
      expect([name, headers[name]]).toEqual([name, plain[name]]);
    expect(plain["repr-digest"]).toMatch(/^sha-256=/);
    expect(headers["content-range"]).toBeUndefined();
  });

  test("of a version that is kept is there, too", async () => {
    const { key, app, id } = scene;
    const before = await app.ask("GET", `/api/files/${id}`, { key });
    const { versionId } = before.body["file"] as { versionId: string };
    await app.ask("PUT", `/api/files/${id}/content`, { key, payload: "another", headers: { "content-type": "a/b" } });
    const [old, now] = await Promise.all([
      app.ask("GET", `/api/files/${id}/content?versionId=${versionId}`, { key, headers: FOLLOWS }),
      get(),
    ]);
    expect([old.status, now.status]).toEqual([307, 307]);
    expect(old.headers["location"]).not.toBe(now.headers["location"]);
  });

  test.each([
    ["says nothing", {}],
    ["names another origin", { "coffer-content-origins": "https://other.example" }],
    ["names a part of it", { "coffer-content-origins": "https://s3.example.co" }],
    ["names nothing", { "coffer-content-origins": "" }],
  ])("comes from the service for a client that %s", async (_, headers) => {
    const { status, text, headers: answered } = await get(headers);
    expect([status, text, answered["location"]]).toEqual([200, "content", undefined]);
  });

  test("is looked at first: conditions, ranges and their conditions are answered as without a redirect", async () => {
    const etag = String((await get({})).headers["etag"]);
    const statusOf = async (headers: Record<string, string>) => (await get({ ...FOLLOWS, ...headers })).status;
    expect(await statusOf({ "if-none-match": etag })).toBe(304);
    expect(await statusOf({ "if-match": '"other"' })).toBe(412);
    expect(await statusOf({ range: "bytes=99-" })).toBe(416);
    const part = (await get({ ...FOLLOWS, range: "bytes=-3", "if-range": etag })).headers;
    expect(part["content-range"]).toBe("bytes 4-6/7");
    const whole = await get({ ...FOLLOWS, range: "bytes=-3", "if-range": '"other"' });
    expect([whole.status, whole.headers["content-range"]]).toEqual([307, undefined]);
  });

  test("is not there where nothing is, and for HEAD", async () => {
    const { app, key, id } = scene;
    const empty = await get(FOLLOWS, await upload(app, key, ""));
    expect([empty.status, empty.text, empty.headers["location"]]).toEqual([200, "", undefined]);
    const head = await app.ask("HEAD", `/api/files/${id}/content`, { key, headers: FOLLOWS });
    expect([head.status, head.headers["content-length"], head.headers["location"]]).toEqual([200, "7", undefined]);
  });

  test("is there for nobody who may not read it: no key, no scope, another vault, another account, a revoked key [A10]", async () => {
    const { app, key, id } = scene;
    const ask = async (caller: string | null): Promise<[number, unknown]> => {
      const call = { headers: FOLLOWS, ...(caller === null ? {} : { key: caller }) };
      const { status, headers } = await app.ask("GET", `/api/files/${id}/content`, call);
      return [status, headers["location"]];
    };
    const agent = await app.newKey(key, { scopes: ["files:read"] });
    expect((await ask(agent.key))[0]).toBe(307);
    await app.ask("DELETE", `/api/auth/api-keys/${agent.id}`, { key });
    expect(await ask(agent.key)).toEqual([401, undefined]);
    const elsewhere = await app.newVault(key, "elsewhere");
    const writer = await app.newKey(key, { scopes: ["files:write"] });
    const limited = await app.newKey(key, { scopes: ["files:read"], vaultIds: [elsewhere] });
    const stranger = await app.signUp();
    expect(await ask(writer.key)).toEqual([403, undefined]);
    for (const caller of [limited.key, stranger.key]) expect(await ask(caller)).toEqual([404, undefined]);
    expect(await ask("cof_no-key-of-this-service")).toEqual([401, undefined]);
  });

  test("has an address that is in no log, no metric and no row [A10]", async () => {
    const { app } = scene;
    const location = String((await get()).headers["location"]);
    // The end of the app looks for them in its database and its log.
    for (const secret of [location, SIGNATURE]) recordSecret("address of a blob", secret);
    expect(app.logged()).toContain('"endpoint":"files.content","method":"GET","status":307');
    expect(app.logged()).not.toContain("s3.example.com");
    const metrics = await app.ask("GET", "/metrics");
    expect(metrics.text).toContain('coffer_http_requests_total{endpoint="files.content",status="3xx"} 1');
    expect(metrics.text).not.toMatch(/s3\.example\.com|5d672d79/);
  });
});

describe("a content of a shared vault", () => {
  const service = ofEachTest(() => openTestService({ blobs: giving(openMemoryBlobs({ clock: systemClock })) }));

  test("never leaves through the store, for its owner, for a member, and by its version [A10]", async () => {
    const writing = await openWriting(service);
    const file = await put(service, writing, "name");
    for (const person of [writing.by, writing.member])
      for (const query of [{}, { versionId: file.versionId }]) {
        const asked = { params: { fileId: file.id }, query, headers: FOLLOWS };
        const answer = await service.handlers.files.content(asked, contextOf(person.principal));
        if (!(answer instanceof Reply)) throw new Error("the answer has no headers");
        expect([answer.status, answer.headers["Location"]]).toEqual([200, undefined]);
      }
  });
});
