import { createHash, randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { Answer } from "../kit/http.ts";
import { expectError, expectStatus, fieldsAt, objectIn, textIn } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const bytes = randomBytes(1000);
const sha256 = createHash("sha256").update(bytes).digest();
const etag = `"sha256-${sha256.toString("base64url")}"`;
let path = "";

beforeAll(async () => {
  const name = encodeURIComponent('Übersicht "2026".html');
  const call = { body: bytes, headers: { "content-type": "text/html" } };
  const file = objectIn(fieldsAt(await service().ask("POST", `/api/files?name=${name}`, call), 201), "file");
  path = `/api/files/${textIn(file, "id")}/content`;
});

const get = (headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  service().ask("GET", path, { headers });
const sameBytes = (answer: Answer, expected: Uint8Array): boolean => Buffer.from(answer.bytes).equals(expected);

describe("a download", () => {
  it("answers the bytes; HEAD the same headers without them [D5-content-get]", async () => {
    const [full, head] = [await get(), await service().ask("HEAD", path)];
    expectStatus(full, 200);
    expect(sameBytes(full, bytes)).toBe(true);
    expectStatus(head, 200);
    expect(head.bytes).toHaveLength(0);
    for (const name of ["content-length", "content-type", "etag", "repr-digest", "accept-ranges"]) {
      expect(head.headers.get(name), name).toBe(full.headers.get(name));
    }
    expect(full.headers.get("content-length")).toBe("1000");
  });

  it("names its digest in ETag and Repr-Digest, and answers 304 to whoever has it [D5-content-etag D5-content-digest]", async () => {
    const full = await get();
    expect(full.headers.get("etag")).toBe(etag);
    expect(full.headers.get("repr-digest")).toBe(`sha-256=:${sha256.toString("base64")}:`);
    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const answer = await get({ "if-none-match": condition });
      expectStatus(answer, 304);
      expect(answer.bytes).toHaveLength(0);
    }
    expectStatus(await get({ "if-none-match": '"other"' }), 200);
  });

  it("answers one range, honours If-Range, and 416 beyond the end [D5-content-range]", async () => {
    const ranges: [string, number, number][] = [
      ["bytes=0-9", 0, 10],
      ["bytes=990-", 990, 1000],
      ["bytes=-5", 995, 1000],
      ["bytes=500-5000", 500, 1000],
    ];
    for (const [range, from, to] of ranges) {
      const answer = await get({ range });
      expectStatus(answer, 206);
      expect(answer.headers.get("content-range")).toBe(`bytes ${from}-${to - 1}/1000`);
      expect(sameBytes(answer, bytes.subarray(from, to)), range).toBe(true);
    }
    expectStatus(await get({ range: "bytes=0-9", "if-range": etag }), 206);
    expectStatus(await get({ range: "bytes=0-9", "if-range": '"sha256-older"' }), 200);
    const beyond = await get({ range: "bytes=1000-" });
    expectError(beyond, 416, "range_not_satisfiable");
    expect(beyond.headers.get("content-range")).toBe("bytes */1000");
  });

  it("is saved under its name, and never run as a page of the service [D5-content-disposition D5-content-sandbox]", async () => {
    const { headers } = await get();
    const disposition = headers.get("content-disposition") ?? "";
    expect(disposition).toMatch(/^attachment;/);
    expect(disposition).toContain("filename*=UTF-8''%C3%9Cbersicht%20%222026%22.html");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("sandbox");
  });
});
