/** The store's mark in stores that know less than S3 says, and over connections that lose answers. A real store is in ../s3-ceph.test.ts. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { collect } from "../../../../../test/kit/bytes.ts";
import { listenOnLoopback } from "../../../../../test/kit/loopback.ts";
import { S3Client } from "./client.ts";
import { readMarkObject, replaceMarkObject } from "./mark-object.ts";
import { S3Objects } from "./objects.ts";
import type { S3Settings } from "./settings.ts";

const PATIENCE = { attempts: 4, within: 5_000, firstWait: 1, longestWait: 4, silence: 300 };

interface Kept {
  text: string;
  etag: string;
  owner: string;
}

interface Store extends AsyncDisposable {
  readonly objects: S3Objects;
  readonly conditions: string[];
  kept: Kept | null;
}

/** A store of one object; `meet` may answer a write in its place. */
async function openStore(
  knows: "conditions" | "no conditions",
  meet: (store: Store, request: IncomingMessage, response: ServerResponse, write: () => void) => boolean = () => false,
): Promise<Store> {
  let version = 0;
  const server = await listenOnLoopback(async (request, response) => {
    const body = await collect(request);
    if (request.method !== "PUT") return answerRead(store, request, response);
    store.conditions.push(request.headers["if-match"] ?? request.headers["if-none-match"] ?? "");
    const write = (): void => {
      const owner = String(request.headers["x-amz-meta-coffer-mark"]);
      store.kept = { text: body.toString(), etag: `"${String((version += 1))}"`, owner };
    };
    if (meet(store, request, response, write)) return;
    const { "if-match": match, "if-none-match": none } = request.headers;
    const fails = (match !== undefined && store.kept?.etag !== match) || (none === "*" && store.kept !== null);
    if (fails && knows === "conditions") return void response.writeHead(412).end();
    write();
    response.writeHead(200, { etag: store.kept?.etag ?? "" }).end();
  });
  const settings: S3Settings = {
    endpoint: server.baseUrl,
    bucket: "bucket",
    prefix: "",
    region: "here",
    pathStyle: true,
    accessKeyId: "AKEY",
    secretAccessKey: "the secret of the store",
    sessionToken: null,
    encryption: null,
    bodies: null,
    redirect: null,
    trust: null,
  };
  const client = new S3Client(settings, PATIENCE);
  const store: Store = {
    objects: new S3Objects(client, settings),
    conditions: [],
    kept: null,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
  return store;
}

function answerRead({ kept }: Store, { method }: IncomingMessage, response: ServerResponse): void {
  if (kept === null) return void response.writeHead(404).end();
  const headers = { etag: kept.etag, "x-amz-meta-coffer-mark": kept.owner, "content-length": kept.text.length };
  response.writeHead(200, headers).end(method === "HEAD" ? undefined : kept.text);
}

const replace = (store: Store, before: string | null, mark: string, isConditional = true): Promise<boolean> =>
  replaceMarkObject(store.objects, "store-mark", { before, mark, isConditional });

it("is written for what was read, and nothing else", async () => {
  await using store = await openStore("conditions");
  expect(await readMarkObject(store.objects, "store-mark")).toBeNull();
  expect(await replace(store, null, "one")).toBe(true);
  expect(await replace(store, "another", "two")).toBe(false);
  expect(await replace(store, "one", "two")).toBe(true);
  expect(store.conditions).toEqual(["*", '"1"']);
  expect(await readMarkObject(store.objects, "store-mark")).toMatchObject({ text: "two" });
});

it("is not written over what another has written between the read and the write", async () => {
  let isFirst = true;
  await using store = await openStore("conditions", (at) => {
    if (at.kept !== null && isFirst) {
      isFirst = false;
      at.kept = { text: "another's", etag: '"other"', owner: "another" };
    }
    return false;
  });
  await replace(store, null, "one");
  expect(await replace(store, "one", "two")).toBe(false);
  expect(store.kept?.text).toBe("another's");
});

it("is written where the store compares it without its quotes", async () => {
  await using store = await openStore("conditions", (at, request) => {
    const { "if-match": match } = request.headers;
    if (match !== undefined && match === at.kept?.etag.replaceAll('"', "")) request.headers["if-match"] = at.kept.etag;
    else if (match !== undefined) request.headers["if-match"] = "never";
    return false;
  });
  await replace(store, null, "one");
  expect(await replace(store, "one", "two")).toBe(true);
  expect(await replace(store, "one", "three")).toBe(false);
  expect(store.kept?.text).toBe("two");
});

it("is known to be its own when the answer was lost", async () => {
  let cuts = 0;
  await using store = await openStore("conditions", (_at, request, _response, write) => {
    if ((cuts += 1) % 2 === 0) return false;
    write();
    request.socket.destroy();
    return true;
  });
  expect(await replace(store, null, "one")).toBe(true);
  expect(await replace(store, "one", "two")).toBe(true);
  expect(store.kept?.text).toBe("two");
});

it("is compared and written where the store knows no condition for what is there", async () => {
  await using refusing = await openStore("conditions", (_at, request, response) => {
    if (request.headers["if-match"] === undefined) return false;
    response.writeHead(501).end("<Error><Code>NotImplemented</Code></Error>");
    return true;
  });
  await using ignoring = await openStore("no conditions");
  for (const [store, isConditional] of [
    [refusing, true],
    [ignoring, false],
  ] as const) {
    expect(await replace(store, null, "one", isConditional)).toBe(true);
    expect(await replace(store, null, "two", isConditional)).toBe(false);
    expect(await replace(store, "one", "three", isConditional)).toBe(true);
    expect(store.kept?.text).toBe("three");
  }
  expect(ignoring.conditions).toEqual(["", ""]);
});
