/** The edge of the protocol, over a real connection to a server that answers what a test says. */
import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { collect } from "../../../../../test/kit/bytes.ts";
import { listenOnLoopback } from "../../../../../test/kit/loopback.ts";
import { BlobStoreAwayError, BlobStoreFullError } from "../../../ports/blob-store.ts";
import { S3Client } from "./client.ts";
import { S3Objects } from "./objects.ts";
import { readObject } from "./reading.ts";
import { S3Refusal } from "./refusal.ts";
import type { S3Settings } from "./settings.ts";
import { signByHand } from "./signatures.test-kit.ts";

const PATIENCE = { attempts: 4, within: 5_000, firstWait: 1, longestWait: 4, silence: 300 };
const CODED = (code: string): string => `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown;

interface Store extends AsyncDisposable {
  readonly client: S3Client;
  readonly objects: S3Objects;
  readonly settings: S3Settings;
  /** Method and address of each request. */
  readonly asked: string[];
  /** Kinds of what was reported. */
  readonly faults: string[];
}

/** Answers in this order; the last one goes on. */
async function openStore(...answers: readonly Answer[]): Promise<Store> {
  const asked: string[] = [];
  const server = await listenOnLoopback(async (request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(`${String(request.method)} ${String(request.url)}`);
    await answer?.(request, response, await collect(request));
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
    encryption: { method: "aws:kms", keyId: "key-1" },
    bodies: null,
    redirect: null,
    trust: null,
  };
  const faults: string[] = [];
  const client = new S3Client(settings, PATIENCE, ({ kind }) => void faults.push(kind));
  return {
    client,
    faults,
    objects: new S3Objects(client, settings),
    settings,
    asked,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const answering =
  (status: number, body = "", headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);
const cutting: Answer = (request) => request.socket.destroy();
const silent: Answer = () => undefined;

function bodyOf(text: string) {
  const bytes = Buffer.from(text);
  return {
    blocks: [bytes.subarray(0, 2), bytes.subarray(2)],
    bytes: bytes.length,
    sha256: hash("sha256", bytes, "hex"),
  };
}

const PUT = { mark: "mark", onlyNew: true } as const;

describe("a request to the store", () => {
  it("is signed over its bytes, and says how the store shall encrypt", async () => {
    const seen: { headers: IncomingMessage["headers"]; body: string; url: string }[] = [];
    await using store = await openStore((request, response, body) => {
      seen.push({ headers: request.headers, body: body.toString(), url: request.url ?? "" });
      response.setHeader("etag", '"e"').end();
    });
    expect(await store.objects.put("blobs/one", bodyOf("content"), PUT)).toBe(true);
    const [{ headers, body, url } = { headers: {}, body: "", url: "" }] = seen;
    expect(body).toBe("content");
    expect(url).toBe("/bucket/blobs/one");
    expect(headers).toMatchObject({
      "x-amz-content-sha256": hash("sha256", "content", "hex"),
      "x-amz-server-side-encryption": "aws:kms",
      "x-amz-server-side-encryption-aws-kms-key-id": "key-1",
      "if-none-match": "*",
      "content-length": "7",
    });
    expect(headers["transfer-encoding"]).toBeUndefined();
    expect(headers.authorization).toBe(signatureOf("PUT", url, headers, store.settings));
  });

  it("whose body has no digest is signed all the same, and says so", async () => {
    const seen: IncomingMessage["headers"][] = [];
    await using store = await openStore((request, response) => {
      seen.push(request.headers);
      response.setHeader("etag", '"e"').end();
    });
    await store.objects.put("blobs/one", { ...bodyOf("content"), sha256: null }, PUT);
    const [headers = {}] = seen;
    expect(headers).toMatchObject({ "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "content-length": "7" });
    expect(headers.authorization).toBe(signatureOf("PUT", "/bucket/blobs/one", headers, store.settings));
  });

  it.each([
    ["500", answering(500, CODED("InternalError"))],
    ["503 SlowDown", answering(503, CODED("SlowDown"))],
    ["502 of a proxy", answering(502, "<html>")],
    ["429", answering(429)],
    ["a connection that is cut", cutting],
    ["silence", silent],
    ["a success that is an error", answering(200, CODED("InternalError"), { etag: '"e"' })],
    ["a success that names nothing", answering(200, "")],
    ["bytes that were damaged on the way", answering(400, CODED("XAmzContentSHA256Mismatch"))],
  ])("is repeated after %s", async (_, failing) => {
    await using store = await openStore(failing, failing, answering(200, "", { etag: '"e"' }));
    expect(await store.objects.put("blobs/one", bodyOf("content"), PUT)).toBe(true);
    expect(store.asked).toHaveLength(3);
    const [tally] = store.client.tally.read();
    expect(tally?.operation).toBe("put");
    expect((tally?.done ?? 0) + (tally?.failed ?? 0)).toBe(3);
  });

  it("is given up within its budget, as a store that is away", async () => {
    for (const failing of [answering(503, CODED("SlowDown")), cutting, silent]) {
      await using store = await openStore(failing);
      const put = store.objects.put("blobs/one", bodyOf("content"), PUT);
      await expect(put).rejects.toThrow(BlobStoreAwayError);
      expect(store.asked).toHaveLength(PATIENCE.attempts);
    }
  });

  it("is refused for good without a repeat, and no message holds a secret", async () => {
    for (const [status, code, kind] of [
      [403, "SignatureDoesNotMatch", BlobStoreAwayError],
      [404, "NoSuchBucket", BlobStoreAwayError],
      [403, "QuotaExceeded", BlobStoreFullError],
      [507, "", BlobStoreFullError],
      [400, "EntityTooSmall", S3Refusal],
    ] as const) {
      await using store = await openStore(answering(status, code === "" ? "" : CODED(code)));
      const refused: unknown = await store.objects.listParts("blobs/one", "u").catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(kind);
      expect(store.asked).toHaveLength(1);
      expect(JSON.stringify(refused) + String((refused as Error).stack)).not.toContain("the secret of the store");
    }
  });

  it("is refused with what to do where the bucket is missing, also where the answer has no body [issue 51]", async () => {
    for (const answer of [answering(404, CODED("NoSuchBucket")), answering(404, "")]) {
      await using store = await openStore(answer);
      const asked = store.client.request({ operation: "ping", method: "HEAD", name: "" });
      await expect(asked).rejects.toThrow(
        /^There is no bucket \S+ at http\S+: make it first, for instance by aws s3 mb s3:/,
      );
    }
  });

  it("that the store has no room for is reported [issue 51]", async () => {
    await using store = await openStore(answering(403, CODED("QuotaExceeded")));
    await expect(store.objects.put("blobs/one", bodyOf("content"), PUT)).rejects.toThrow(BlobStoreFullError);
    expect(store.faults).toEqual(["full"]);
  });

  it("that was carried out although its answer was lost is known again by its mark", async () => {
    const mine = answering(200, "", { "x-amz-meta-coffer-mark": "mark", "content-length": "7" });
    const others = answering(200, "", { "x-amz-meta-coffer-mark": "another", "content-length": "7" });
    for (const [found, expected] of [
      [mine, true],
      [others, false],
    ] as const) {
      await using store = await openStore(cutting, answering(412, CODED("PreconditionFailed")), found);
      expect(await store.objects.put("blobs/one", bodyOf("content"), PUT)).toBe(expected);
    }
    await using store = await openStore(answering(412, CODED("PreconditionFailed")));
    expect(await store.objects.put("blobs/one", bodyOf("content"), PUT)).toBe(false);
  });
});

describe("putting parts together", () => {
  const parts = [{ number: 1, etag: '"one"' }];
  const made = answering(200, "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>");

  it("is repeated after a 200 whose body is an error, is cut off, or is something else", async () => {
    for (const bad of [CODED("InternalError"), "<CompleteMultipartUploadRes", "", "<html></html>"]) {
      await using store = await openStore(answering(200, bad), made);
      await store.objects.completeUpload("blobs/one", "u", parts, false);
      expect(store.asked).toHaveLength(2);
    }
  });

  it("fails for a 200 whose body refuses for good, and for one that goes on failing", async () => {
    {
      await using store = await openStore(answering(200, CODED("InvalidPart")));
      await expect(store.objects.completeUpload("blobs/one", "u", parts, false)).rejects.toThrow(S3Refusal);
    }
    await using store = await openStore(answering(200, CODED("InternalError")));
    await expect(store.objects.completeUpload("blobs/one", "u", parts, false)).rejects.toThrow(BlobStoreAwayError);
  });
});

describe("reading", () => {
  const content = Buffer.from("0123456789".repeat(10_000));
  const ranged =
    (stopAfter: number | null): Answer =>
    (request, response) => {
      const [, from = "0", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "bytes=0-") ?? [];
      const bytes = content.subarray(Number(from), to === "" ? undefined : Number(to) + 1);
      const headers: Record<string, string | number> = { etag: '"same"', "content-length": bytes.length };
      if (request.headers.range !== undefined)
        headers["content-range"] = `bytes ${from}-${String(Number(from) + bytes.length - 1)}/${String(content.length)}`;
      response.writeHead(request.headers.range === undefined ? 200 : 206, headers);
      if (stopAfter === null) return response.end(bytes);
      response.write(bytes.subarray(0, stopAfter), () => setTimeout(() => request.socket.destroy(), 5));
      return undefined;
    };

  it("goes on where a connection was cut", async () => {
    await using store = await openStore(ranged(30_000), ranged(1), ranged(40_000), ranged(null));
    const chunks = await readObject(store.objects, "blobs/one", { offset: 5, length: 90_000 });
    expect((await collect(chunks)).equals(content.subarray(5, 90_005))).toBe(true);
    expect(store.asked).toHaveLength(4);
  });

  it("is given up when the store goes on cutting it", async () => {
    await using store = await openStore(ranged(0));
    const chunks = await readObject(store.objects, "blobs/one", undefined);
    await expect(collect(chunks)).rejects.toThrow();
  });

  it("takes no other range for the one that was asked for", async () => {
    await using store = await openStore(answering(200, "the whole", { "content-length": "9" }));
    await expect(readObject(store.objects, "blobs/one", { offset: 4, length: 3 })).rejects.toThrow(BlobStoreAwayError);
  });

  it("never mixes two objects: what replaces it meanwhile is not read on", async () => {
    await using store = await openStore(ranged(30_000), (request, response) => {
      expect(request.headers["if-match"]).toBe('"same"');
      response.writeHead(412).end(CODED("PreconditionFailed"));
    });
    const chunks = await readObject(store.objects, "blobs/one", undefined);
    await expect(collect(chunks)).rejects.toThrow(S3Refusal);
  });
});

describe("listing", () => {
  it("goes through all pages, and does not take a broken one for the end", async () => {
    const page = (key: string, next: string): string =>
      `<ListBucketResult><Contents><Key>${key}</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>` +
      `<IsTruncated>${String(next !== "")}</IsTruncated><NextContinuationToken>${next}</NextContinuationToken></ListBucketResult>`;
    await using store = await openStore(
      answering(200, page("a", "more")),
      answering(200, page("b", "").slice(0, 40)),
      answering(200, page("b", "")),
    );
    const names: string[] = [];
    for await (const { name } of store.objects.list("")) names.push(name);
    expect(names).toEqual(["a", "b"]);
    expect(store.asked[2]).toContain("continuation-token=more");
  });

  it("names what could not be deleted", async () => {
    const refused = "<DeleteResult><Error><Key>two</Key><Code>AccessDenied</Code></Error></DeleteResult>";
    await using store = await openStore((request, response, body) => {
      expect(request.headers["content-md5"]).toBe(hash("md5", body, "base64"));
      response.end(refused);
    });
    expect([...(await store.objects.deleteAll(["one", "two"])).keys()]).toEqual(["two"]);
  });
});

/** AWS, "Create a signed request". */
function signatureOf(method: string, url: string, headers: IncomingMessage["headers"], settings: S3Settings): string {
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? "")?.[1] ?? "";
  const date = String(headers["x-amz-date"]);
  const lines = names.split(";").map((name) => `${name}:${String(headers[name])}\n`);
  const sha = String(headers["x-amz-content-sha256"]);
  const canonical = [method, url, "", lines.join(""), names, sha].join("\n");
  const { region, secretAccessKey } = settings;
  const { scope, signature } = signByHand({ date, region, secretAccessKey, canonical });
  return `AWS4-HMAC-SHA256 Credential=${settings.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}
