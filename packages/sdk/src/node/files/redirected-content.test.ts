/** A service that sends downloads elsewhere, honest or hostile, and stores that are honest or not. All of them are on loopback. */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { listenOnLoopback } from "../../../../../test/kit/loopback.ts";
import { createClient } from "../../client.ts";
import { nodeTransport } from "../transport.ts";

const BYTES = randomBytes(5 * 1024 * 1024 + 7);
const FILE = "0b5fa1c6-2f0c-4c5f-8f3e-1d1f5a0f6c11";
const KEY = `cof_${"k".repeat(49)}`;
/** What nobody but the transport and the store may see. */
const ADDRESS = "/bucket/blobs/the-key?X-Amz-Signature=the-signature-of-the-store";

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

async function open(answer: Answer) {
  const asked: IncomingMessage[] = [];
  const server = await listenOnLoopback((request, response) => {
    asked.push(request);
    return answer(request, response);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { asked, origin: server.baseUrl };
}

function rangeIn({ headers }: IncomingMessage): { first: number; last: number } | null {
  const [, first, last = ""] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  return first === undefined ? null : { first: Number(first), last: last === "" ? BYTES.length - 1 : Number(last) };
}

const contentRange = ({ first, last }: { first: number; last: number }): string =>
  `bytes ${String(first)}-${String(last)}/${String(BYTES.length)}`;

/** The bytes that were asked for, as a store and a service without redirects send them. */
function sendBytes(request: IncomingMessage, response: ServerResponse, bytes: Uint8Array = BYTES): void {
  const range = rangeIn(request);
  const part = range === null ? bytes : bytes.subarray(range.first, range.last + 1);
  if (range !== null) response.setHeader("content-range", contentRange(range));
  response.writeHead(range === null ? 200 : 206, { "content-length": part.length }).end(part);
}

function describeContent(response: ServerResponse): ServerResponse {
  response.setHeader("repr-digest", `sha-256=:${createHash("sha256").update(BYTES).digest("base64")}:`);
  response.setHeader("etag", '"the-version"');
  return response.setHeader("content-type", "text/x-of-the-service");
}

/** A service that redirects whoever may be redirected. */
const redirecting =
  (location: () => string, status = 307): Answer =>
  (request, response) => {
    describeContent(response);
    if (request.headers["coffer-content-origins"] === undefined) return sendBytes(request, response);
    const range = rangeIn(request);
    if (range !== null) response.setHeader("content-range", contentRange(range));
    if (location() !== "") response.setHeader("location", location());
    response.writeHead(status, { "content-length": 0, "set-cookie": "of-the-service=1" }).end();
  };

async function scene({ store = sendBytes, location = (origin: string) => origin + ADDRESS, retries = 0 } = {}) {
  const shop = await open(store);
  const service = await open(redirecting(() => location(shop.origin)));
  const transport = nodeTransport({ contentOrigins: ["https://s3.example.com", shop.origin] });
  const ask = (init: RequestInit = {}): Promise<Response> =>
    transport(new Request(`${service.origin}/api/files/${FILE}/content`, init));
  const client = createClient({
    baseUrl: service.origin,
    credentials: { apiKey: KEY },
    transport,
    retry: { limit: retries },
  });
  return { shop, service, ask, client };
}

const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

describe("a download that the service sends to a listed store", () => {
  it("comes from there, whole, with what the service says of it", async () => {
    const { shop, service, ask } = await scene();
    const answer = await ask();
    const { status, headers } = answer;
    expect([status, headers.get("content-type"), headers.get("etag"), headers.get("content-length")]).toEqual([
      200,
      "text/x-of-the-service",
      '"the-version"',
      String(BYTES.length),
    ]);
    expect(inspect(answer)).not.toMatch(/bucket|X-Amz/);
    expect((await bytesOf(answer)).equals(BYTES)).toBe(true);
    expect([shop.asked.length, service.asked.length]).toEqual([1, 1]);
    expect(shop.asked[0]?.url).toBe(ADDRESS);
    expect(service.asked[0]?.headers["coffer-content-origins"]).toBe(`https://s3.example.com ${shop.origin}`);
  });

  it("gives the store no credential, and of the request nothing but its range [S34]", async () => {
    const { shop, ask } = await scene();
    const headers = {
      authorization: `Bearer ${KEY}`,
      cookie: "a=b",
      "x-dev-user-id": "me",
      "x-client": "coffer",
      range: "bytes=2-9",
      "if-match": '"the-version"',
      "if-range": '"the-version"',
      "x-anything": "else",
      "x-retry-count": "1",
    };
    expect((await bytesOf(await ask({ headers }))).equals(BYTES.subarray(2, 10))).toBe(true);
    const { host, ...others } = shop.asked[0]?.headers ?? {};
    expect(shop.origin).toContain(String(host));
    expect(others).toEqual({
      accept: "*/*",
      "accept-encoding": "identity",
      range: "bytes=2-9",
      connection: "keep-alive",
    });
  });

  it("goes on where it broke, by another redirect, and is verified", async () => {
    let turn = 0;
    const breaking: Answer = (request, response) => {
      if ((turn += 1) > 1) return sendBytes(request, response);
      response.writeHead(200, { "content-length": BYTES.length });
      response.write(BYTES.subarray(0, 2_000_000), () => response.socket?.end());
    };
    const { shop, service, client } = await scene({ store: breaking, retries: 2 });
    const download = await client.files.download(FILE);
    expect(Buffer.from(await download.bytes()).equals(BYTES)).toBe(true);
    expect(shop.asked.map(({ headers }) => headers.range)).toEqual([
      undefined,
      `bytes=2000000-${String(BYTES.length - 1)}`,
    ]);
    expect(service.asked[1]?.headers["if-match"]).toBe('"the-version"');
  });

  it("is refused when the store sends other bytes than the service's digest [S34]", async () => {
    const other: Answer = (request, response) => sendBytes(request, response, randomBytes(BYTES.length));
    const { client } = await scene({ store: other });
    const download = await client.files.download(FILE);
    await expect(download.bytes()).rejects.toMatchObject({ code: "integrity_failed" });
  });

  it("comes whole where the service did not accept the range", async () => {
    const shop = await open(sendBytes);
    const service = await open((_, response) => {
      describeContent(response)
        .writeHead(307, { "content-length": 0, location: shop.origin + ADDRESS })
        .end();
    });
    const transport = nodeTransport({ contentOrigins: [shop.origin] });
    const headers = { range: "bytes=0-9", "if-range": '"an-older-version"' };
    const answer = await transport(new Request(`${service.origin}/api/files/${FILE}/content`, { headers }));
    expect([answer.status, shop.asked[0]?.headers.range]).toEqual([200, undefined]);
    expect((await bytesOf(answer)).equals(BYTES)).toBe(true);
  });
});

describe("a service that sends a download elsewhere", () => {
  it.each([
    ["a store that is not in the list", "https://store.example/bucket", "https://store.example,"],
    ["a metadata service", "http://169.254.169.254/latest/meta-data/the-key", "http://169.254.169.254,"],
    ["another port of this machine", "http://127.0.0.1:1/the-key", "http://127.0.0.1:1,"],
    ["another scheme", "file:///etc/passwd/the-key", "no address"],
    ["a blob that has the store's origin", "blob:https://s3.example.com/the-key", "no address"],
    ["a host that only looks like the store", "https://s3.example.com@evil.example/the-key", "https://evil.example,"],
    ["a host below the store's", "https://s3.example.com.evil.example/the-key", "https://s3.example.com.evil.example,"],
    ["the store, without TLS", "http://s3.example.com/the-key", "http://s3.example.com,"],
    ["the store, with a user's name", "https://user:pass@s3.example.com/the-key", "an address with a user's name"],
    ["a place of its own", "/the-key", "no address"],
    ["nowhere", "", "no address"],
    ["a host that a browser would guess", "//s3.example.com/the-key", "no address"],
    ["an address without end", `https://s3.example.com/${"the-key".repeat(1_500)}`, "no address"],
  ])(
    "to %s gets an error that names no more than the origin, and nothing is asked there [S34]",
    async (_, location, named) => {
      const { shop, service, ask, client } = await scene({ location: () => location });
      const failure: unknown = await ask({ headers: { authorization: `Bearer ${KEY}` } }).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: "configuration", retryable: false });
      expect((failure as Error).message).toContain(`The service sends this download to ${named}`);
      expect((failure as Error).message.length).toBeLessThan(500);
      expect(inspect(failure)).not.toMatch(/the-key|bucket|meta-data|passwd|pass@|user:/);
      expect([shop.asked.length, service.asked.length]).toEqual([0, 1]);
      await expect(client.files.download(FILE)).rejects.toMatchObject({ code: "configuration" });
    },
  );

  it.each([301, 302, 303, 308])("by %i is not followed, as without the option", async (status) => {
    const shop = await open(sendBytes);
    const service = await open(redirecting(() => shop.origin + ADDRESS, status));
    const transport = nodeTransport({ contentOrigins: [shop.origin] });
    await expect(transport(new Request(`${service.origin}/api/files/${FILE}/content`))).rejects.toThrow(
      "unexpected redirect",
    );
    expect(shop.asked).toEqual([]);
  });

  it("is not followed by a client that names no store, which does not ask for it either [S34]", async () => {
    const shop = await open(sendBytes);
    const service = await open((_, response) =>
      response.writeHead(307, { "content-length": 0, location: shop.origin + ADDRESS }).end(),
    );
    const request = new Request(`${service.origin}/api/files/${FILE}/content`);
    await expect(nodeTransport()(request)).rejects.toMatchObject({
      cause: { cause: { message: "unexpected redirect" } },
    });
    expect([service.asked[0]?.headers["coffer-content-origins"], shop.asked.length]).toEqual([undefined, 0]);
  });

  it("sends nothing but contents elsewhere, and nothing that is written", async () => {
    const { service, shop } = await scene();
    const transport = nodeTransport({ contentOrigins: [shop.origin] });
    const url = `${service.origin}/api/files/${FILE}`;
    for (const request of [new Request(url), new Request(`${url}/content`, { method: "HEAD" })])
      await transport(request);
    expect(service.asked.map(({ headers }) => headers["coffer-content-origins"])).toEqual([undefined, undefined]);
  });

  it("cannot hold a connection with a redirect that has a body without end", async () => {
    const shop = await open(sendBytes);
    const closed = Promise.withResolvers<undefined>();
    const service = await open((_, response) => {
      response.on("close", () => {
        closed.resolve(undefined);
      });
      describeContent(response)
        .writeHead(307, { location: shop.origin + ADDRESS })
        .write("more");
    });
    const transport = nodeTransport({ contentOrigins: [shop.origin] });
    const answer = await transport(new Request(`${service.origin}/api/files/${FILE}/content`));
    expect((await bytesOf(answer)).equals(BYTES)).toBe(true);
    await closed.promise;
  });
});

describe("a store that does not give the bytes", () => {
  const away: Answer = (request) => request.socket.destroy();
  const answering =
    (status: number, headers: Record<string, string> = {}): Answer =>
    (_, response) =>
      response.writeHead(status, headers).end("an error of the store");
  const inPieces: Answer = (_, response) => {
    response.write(BYTES.subarray(0, 10));
    response.end(BYTES.subarray(10));
  };

  it.each<[string, Answer]>([
    ["refuses an address that has ended", answering(403)],
    ["has no such blob", answering(404)],
    ["fails", answering(500)],
    ["sends the client further", answering(307, { location: "http://127.0.0.1:1/" })],
    ["says that nothing changed", answering(304)],
    ["answers a part that nobody asked for", answering(206, { "content-range": contentRange({ first: 0, last: 1 }) })],
    ["does not say how much there is", inPieces],
    ["compresses", answering(200, { "content-encoding": "gzip" })],
    ["hangs up", away],
  ])("because it %s costs another request: the service sends them itself", async (_, store) => {
    const { shop, service, client } = await scene({ store });
    const download = await client.files.download(FILE);
    expect(Buffer.from(await download.bytes()).equals(BYTES)).toBe(true);
    expect([shop.asked.length, service.asked.length]).toEqual([1, 2]);
    expect(service.asked[1]?.headers["coffer-content-origins"]).toBeUndefined();
    // It is not asked again at once.
    await (await client.files.download(FILE)).bytes();
    expect([shop.asked.length, service.asked.length]).toEqual([1, 3]);
  });

  it.each<[string, Answer]>([
    ["ignores the range", (request, response) => sendBytes(Object.assign(request, { headers: {} }), response)],
    ["sends another range", answering(206, { "content-range": contentRange({ first: 0, last: 7 }) })],
    ["sends the range of another file", answering(206, { "content-range": "bytes 10-30/31", "content-length": "21" })],
  ])("of a range because it %s is passed by, too", async (_, store) => {
    const { service, client } = await scene({ store });
    const download = await client.files.download(FILE, { range: { offset: 10, length: 21 } });
    expect(Buffer.from(await download.bytes()).equals(BYTES.subarray(10, 31))).toBe(true);
    expect(service.asked.slice(0, 2).map(({ headers }) => headers["coffer-content-origins"])).toEqual([
      expect.any(String),
      undefined,
    ]);
  });

  it("because nobody answers at its origin is passed by", async () => {
    const gone = await listenOnLoopback(() => undefined);
    await gone[Symbol.asyncDispose]();
    const service = await open(redirecting(() => gone.baseUrl + ADDRESS));
    const transport = nodeTransport({ contentOrigins: [gone.baseUrl] });
    const answer = await transport(new Request(`${service.origin}/api/files/${FILE}/content`));
    expect((await bytesOf(answer)).equals(BYTES)).toBe(true);
  });

  it("because it says nothing is passed by after five seconds, and at once when the call is aborted", async () => {
    const { shop, service, ask } = await scene({ store: () => undefined });
    const controller = new AbortController();
    const aborted = ask({ signal: controller.signal });
    while (shop.asked.length === 0) await sleep(5);
    controller.abort();
    const failure: unknown = await aborted.catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "AbortError" });
    expect(inspect(failure)).not.toMatch(/bucket|X-Amz/);
    expect(service.asked).toHaveLength(1);
    expect((await bytesOf(await ask())).equals(BYTES)).toBe(true);
    expect([shop.asked.length, service.asked.length]).toEqual([2, 3]);
  });

  it("shows its address in no error when it breaks off and the service is away, too", async () => {
    let asked = 0;
    const shop = await open((_, response) => {
      response.writeHead(200, { "content-length": BYTES.length });
      response.write(BYTES.subarray(0, 100), () => response.socket?.destroy());
    });
    const service = await open((request, response) => {
      if ((asked += 1) > 1) return request.socket.destroy();
      return redirecting(() => shop.origin + ADDRESS)(request, response);
    });
    const transport = nodeTransport({ contentOrigins: [shop.origin] });
    const client = createClient({
      baseUrl: service.origin,
      credentials: { apiKey: KEY },
      transport,
      retry: { limit: 0 },
    });
    const download = await client.files.download(FILE);
    const failure: unknown = await download.bytes().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "connection_failed" });
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/bucket|X-Amz/);
  });
});

describe("a list of stores", () => {
  it.each([
    "http://s3.example.com",
    "https://s3.example.com/bucket",
    "https://user@s3.example.com",
    "https://s3.example.com?x",
    "s3.example.com",
    "https://*.example.com",
    "ftp://s3.example.com",
    "http://localhost.example.com",
    "http://0.0.0.0:9000",
    "blob:https://s3.example.com",
    "blob:https://s3.example.com/",
    "blob:https://s3.example.com/6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "https://.",
    "https://..",
    "https://s3..example.com",
    "https://.example.com",
    "",
  ])("does not take %s, and does not repeat it", (origin) => {
    const make = (): unknown => nodeTransport({ contentOrigins: ["https://fine.example", origin] });
    expect(make).toThrow("contentOrigins, item 2: expected an origin such as");
    if (origin.includes("user") || origin.includes("?")) expect(make).not.toThrow(origin);
  });

  it("takes origins of https, those of http on this machine, and not just anything", () => {
    const contentOrigins = [
      "https://S3.example.com",
      "https://s3.example.com:9000/",
      "http://127.0.0.1:9",
      "http://[::1]:9",
    ];
    expect(() => nodeTransport({ contentOrigins })).not.toThrow();
    for (const wrong of ["https://s3.example.com", [null]] as unknown[])
      expect(() => nodeTransport({ contentOrigins: wrong as string[] })).toThrow("contentOrigins");
    const many = Array.from({ length: 99 }, (_, at) => `https://s3-${String(at)}.example.com`);
    expect(() => nodeTransport({ contentOrigins: many })).toThrow("too long");
  });
});
