import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../../../test/kit/bytes.ts";
import { Reply } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { bodyOf, codeOf, contextOf, openTestService, type TestService } from "../service.test-kit.ts";
import { renderDisposition } from "./disposition.ts";
import { parseRange } from "./ranges.ts";
import { etagOf } from "./rules.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);
const file = ofEachTest(() => store());

const BYTES = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7) % 256));

type ContentHeaders = Parameters<TestService["handlers"]["files"]["content"]>[0]["headers"];

async function store(name = "data.bin", contentType: string | null = "image/svg+xml") {
  const body = bodyOf(BYTES, { contentType });
  const recorded = await service.handlers.files.upload(
    { query: { name }, headers: {}, body },
    contextOf(service.owner),
  );
  return recorded.reply.body.file;
}

async function get(fileId: string, headers: ContentHeaders = {}) {
  const answer = await service.handlers.files.content(
    { params: { fileId }, query: {}, headers },
    contextOf(service.owner),
  );
  if (!(answer instanceof Reply)) throw new Error("the answer has no headers");
  return {
    status: answer.status,
    headers: answer.headers,
    body: answer.body === undefined ? null : await collect(answer.body),
  };
}

async function head(fileId: string, headers: ContentHeaders = {}) {
  return (await service.handlers.files.contentHead(
    { params: { fileId }, query: {}, headers },
    contextOf(service.owner),
  )) as Reply<undefined>;
}

test("[D5-content-get] [D5-content-digest] [D5-content-sandbox] [D5-content-etag] whole content: 200 with everything a careful client wants, and nothing a browser would run", async () => {
  const { status, headers, body } = await get(file.id);
  expect(status).toBe(200);
  expect(body?.equals(BYTES)).toBe(true);
  expect(headers).toEqual({
    ETag: etagOf(file),
    "Last-Modified": "Tue, 01 Jan 2030 00:00:00 GMT",
    "Cache-Control": "private, no-cache",
    "Content-Type": "image/svg+xml",
    "Content-Length": "3000",
    "Accept-Ranges": "bytes",
    "Repr-Digest": `sha-256=:${Buffer.from(file.sha256, "hex").toString("base64")}:`,
    "Content-Disposition": 'attachment; filename="data.bin"',
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
  });
  expect(headers["ETag"]).toMatch(/^"sha256-[\w-]{43}"$/);
  expect((await head(file.id)).headers).toEqual(headers);
});

test("[D5-content-range] a range answers the same bytes as a slice, for any range", async () => {
  const position = fc.integer({ min: 0, max: BYTES.length + 50 });
  await fc.assert(
    fc.asyncProperty(position, position, async (a, b) => {
      const [first, last] = [Math.min(a, b), Math.max(a, b)];
      if (first >= BYTES.length) {
        expect(await codeOf(get(file.id, { range: `bytes=${first}-${last}` }))).toBe("range_not_satisfiable");
        return;
      }
      const expected = BYTES.subarray(first, last + 1);
      const answer = await get(file.id, { range: `bytes=${first}-${last}` });
      expect(answer.status).toBe(206);
      expect(answer.body?.equals(expected)).toBe(true);
      expect(answer.headers["Content-Length"]).toBe(String(expected.length));
      expect(answer.headers["Content-Range"]).toBe(`bytes ${first}-${first + expected.length - 1}/3000`);
      const open = await get(file.id, { range: `bytes=${first}-` });
      expect(open.body?.equals(BYTES.subarray(first))).toBe(true);
      if (last === 0) return;
      const suffix = await get(file.id, { range: `bytes=-${last}` });
      expect(suffix.body?.equals(BYTES.subarray(-last))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

describe("ranges", () => {
  test("what is no single byte range is answered whole (RFC 9110 §14.2)", () => {
    const ignored = [
      "bytes=0-1,5-6",
      "bytes=0-0,-1",
      "items=0-1",
      "bytes=5-2",
      "bytes",
      "bytes=",
      "bytes=-",
      "bytes=a-b",
      "bytes=1.5-2",
      "bytes=0x1-2",
      "bytes=--1",
    ];
    for (const header of [undefined, "", ...ignored]) expect(parseRange(header, 100), String(header)).toBeNull();
  });

  test("units in any case, lists of one, and far too large numbers", () => {
    expect(parseRange("BYTES=0-0", 100)).toEqual({ offset: 0, length: 1 });
    expect(parseRange("bytes= ,10-19, ", 100)).toEqual({ offset: 10, length: 10 });
    expect(parseRange(`bytes=10-${"9".repeat(40)}`, 100)).toEqual({ offset: 10, length: 90 });
    expect(parseRange(`bytes=-${"9".repeat(400)}`, 100)).toEqual({ offset: 0, length: 100 });
  });

  test("unsatisfiable ranges say the size; an empty content has none but the suffix", () => {
    for (const [header, size] of [
      ["bytes=100-", 100],
      ["bytes=-0", 100],
      ["bytes=0-", 0],
      [`bytes=${"9".repeat(400)}-`, 5],
    ] as const) {
      expect(() => parseRange(header, size), header).toThrow(ServiceError);
    }
    const error = (() => {
      try {
        return parseRange("bytes=100-", 100);
      } catch (cause) {
        return cause;
      }
    })();
    expect(error).toMatchObject({ code: "range_not_satisfiable", headers: { "Content-Range": "bytes */100" } });
    expect(parseRange("bytes=-5", 0)).toBeNull();
  });
});

test("HEAD knows no ranges, but the conditions", async () => {
  expect((await head(file.id, { range: "bytes=0-1" })).status).toBe(200);
  expect((await head(file.id, { range: "bytes=9999-" })).status).toBe(200);
  expect((await head(file.id, { "if-none-match": etagOf(file) })).status).toBe(304);
});

test("[D5-content-etag] If-None-Match compares weakly and answers 304 with the validators alone", async () => {
  const etag = etagOf(file);
  for (const header of ["*", etag, `W/${etag}`, `"other", ${etag}`, ` "a,b" ,W/${etag} `]) {
    const { status, headers, body } = await get(file.id, { "if-none-match": header, range: "bytes=0-1" });
    expect([status, body], header).toEqual([304, null]);
    expect(Object.keys(headers).sort()).toEqual(["Cache-Control", "ETag", "Last-Modified"]);
  }
  expect((await get(file.id, { "if-none-match": '"other"' })).status).toBe(200);
  for (const header of ["other", '"open', '"a" "b"', "", ","]) {
    expect(await codeOf(get(file.id, { "if-none-match": header })), header).toBe("validation_failed");
  }
});

test("If-Match compares strongly and comes first", async () => {
  const etag = etagOf(file);
  expect((await get(file.id, { "if-match": `"x", ${etag}` })).status).toBe(200);
  expect((await get(file.id, { "if-match": "*" })).status).toBe(200);
  for (const header of [`W/${etag}`, '"x"']) {
    expect(await codeOf(get(file.id, { "if-match": header, "if-none-match": etag })), header).toBe(
      "precondition_failed",
    );
  }
});

test("[D5-content-range] If-Range: the range only while the content is the same", async () => {
  const statusOf = async (ifRange: string) => (await get(file.id, { range: "bytes=0-1", "if-range": ifRange })).status;
  expect(await statusOf(etagOf(file))).toBe(206);
  expect(await statusOf(`W/${etagOf(file)}`)).toBe(200);
  expect(await statusOf('"other"')).toBe(200);
  // A date is a strong validator only a second later (RFC 9110 §8.8.2.2).
  expect(await statusOf("Tue, 01 Jan 2030 00:00:00 GMT")).toBe(200);
  service.clock.advance(1000);
  expect(await statusOf("Tue, 01 Jan 2030 00:00:00 GMT")).toBe(206);
  expect(await statusOf("Tue, 01 Jan 2030 00:00:01 GMT")).toBe(200);
  expect(await statusOf("yesterday")).toBe(200);
});

test("[D5-isolation-404] what is in the trash, or another account's, is not handed out", async () => {
  const stranger = await service.addAccount();
  const asked = service.handlers.files.content(
    { params: { fileId: file.id }, query: {}, headers: {} },
    contextOf(stranger),
  );
  expect(await codeOf(asked)).toBe("not_found");
  await service.handlers.files.delete(
    { params: { fileId: file.id }, query: {}, headers: {} },
    contextOf(service.owner),
  );
  expect(await codeOf(get(file.id))).toBe("trashed");
  expect(await codeOf(head(file.id))).toBe("trashed");
});

test("a new version that took the place between row and blob is answered instead of an error", async () => {
  const row = { blob_key: "00000000-gone" };
  await service.database.run(service.database.build.updateTable("files").set(row).where("id", "=", file.id));
  await expect(get(file.id)).rejects.toThrow("not in the blob store");
  const body = bodyOf("new");
  await service.handlers.files.replace(
    { params: { fileId: file.id }, query: {}, headers: {}, body },
    contextOf(service.owner),
  );
  expect((await get(file.id)).body?.toString()).toBe("new");
});

describe("Content-Disposition", () => {
  test("plain names stand as they are, others get an exact extended value (RFC 8187)", () => {
    expect(renderDisposition("report 1.pdf")).toBe('attachment; filename="report 1.pdf"');
    expect(renderDisposition("€ rates.txt")).toBe(
      "attachment; filename=\"_ rates.txt\"; filename*=UTF-8''%E2%82%AC%20rates.txt",
    );
  });

  test("[D5-content-disposition] no name breaks out of its quotes or its header, and the exact one decodes to itself", () => {
    const hostile = [
      '"; filename="evil.exe',
      "a\\",
      "%22; x",
      "a'b(c)*d",
      "\r\nSet-Cookie: x=1",
      "\u202egnp.exe",
      "💥",
      "\u0000",
      "name\u2028",
    ];
    const check = (name: string) => {
      const header = renderDisposition(name);
      expect(header).toMatch(
        /^attachment; filename="[\x20-\x21\x23-\x5b\x5d-\x7e]*"(; filename\*=UTF-8''[\w!#$&+.^`|~%-]*)?$/,
      );
      const exact = /filename\*=UTF-8''(.*)$/.exec(header)?.[1];
      expect(exact === undefined ? header : decodeURIComponent(exact)).toBe(
        exact === undefined ? `attachment; filename="${name}"` : name,
      );
    };
    for (const name of hostile) check(name);
    fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), check));
  });
});
