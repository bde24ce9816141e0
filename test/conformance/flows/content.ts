import { api, type File } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { digestField, sameBytes, sampleBytes, sha256Hex } from "../samples.ts";

const BYTES = sampleBytes(200_003, 7);
const { content, contentHead, replace } = api.files;

export const contentFlow: Flow = async (subject) => {
  const { owner, name, vaultId } = subject;
  owner.step("a file to read");
  const headers = { "content-type": "text/html" };
  const made = await owner.call(api.files.upload, {
    query: { vaultId, name: name("page.html") },
    headers,
    body: BYTES,
  });
  const { file } = made.value();
  const etag = await whole(subject, file);
  await ranges(subject, file);
  if (subject.covers("conditional reads")) await conditions(subject, file, etag);
  const replaced = await replacing(subject, file, etag);
  if (subject.covers(api.files.versions)) await past(subject, file, replaced, etag);
};

async function whole({ owner, covers }: Subject, file: File): Promise<string> {
  const params = { fileId: file.id };
  owner.step("the whole content, with its headers, the same for HEAD");
  const got = await owner.call(content, { params });
  owner.check(content, sameBytes(got.body, BYTES), "other bytes than were stored");
  const head = covers(contentHead) ? await owner.call(contentHead, { params }) : got;
  for (const name of [
    "etag",
    "repr-digest",
    "content-length",
    "content-type",
    "accept-ranges",
    "content-disposition",
  ]) {
    owner.check(contentHead, head.headers.get(name) === got.headers.get(name), `${name} differs between HEAD and GET`);
  }
  const etag = got.headers.get("etag") ?? "";
  const expected = `"sha256-${Buffer.from(sha256Hex(BYTES), "hex").toString("base64url")}"`;
  owner.check(content, etag === expected, `the ETag is ${etag}, not ${expected}`);
  owner.check(content, got.headers.get("repr-digest") === digestField(BYTES), "Repr-Digest is not that of the bytes");
  owner.check(content, got.headers.get("accept-ranges") === "bytes", "Accept-Ranges is not bytes");
  owner.check(
    content,
    got.headers.get("x-content-type-options") === "nosniff",
    "X-Content-Type-Options is not nosniff",
  );
  owner.check(
    content,
    /sandbox/.test(got.headers.get("content-security-policy") ?? ""),
    "Content-Security-Policy has no sandbox",
  );
  owner.check(
    content,
    /^attachment/.test(got.headers.get("content-disposition") ?? ""),
    "Content-Disposition is not attachment",
  );
  return etag;
}

/** Range field, first byte, byte after the last (RFC 9110 §14.1.2). */
const RANGES: readonly (readonly [string, number, number])[] = [
  ["bytes=0-0", 0, 1],
  ["bytes=100-199", 100, 200],
  ["bytes=200000-", 200_000, BYTES.length],
  ["bytes=-3", BYTES.length - 3, BYTES.length],
  ["bytes=199999-99999999", 199_999, BYTES.length],
  ["bytes=-99999999", 0, BYTES.length],
];

async function ranges({ owner }: Subject, file: File): Promise<void> {
  const params = { fileId: file.id };
  for (const [range, from, to] of RANGES) {
    owner.step(`Range: ${range}`);
    const part = await owner.call(content, { params, headers: { range } }, { expect: 206 });
    const field = `bytes ${String(from)}-${String(to - 1)}/${String(BYTES.length)}`;
    owner.check(content, sameBytes(part.body, BYTES.subarray(from, to)), "other bytes than the range names");
    owner.check(content, part.headers.get("content-range") === field, `Content-Range is not ${field}`);
  }
  owner.step("a range outside the file, and fields that are no byte range");
  const outside = await owner.call(
    content,
    { params, headers: { range: "bytes=200003-" } },
    { expect: "range_not_satisfiable" },
  );
  owner.check(
    content,
    outside.headers.get("content-range") === `bytes */${String(BYTES.length)}`,
    "Content-Range does not tell the size",
  );
  for (const range of ["items=0-1", "bytes=5-1", "bytes=x"]) {
    const got = await owner.call(content, { params, headers: { range } });
    owner.check(content, sameBytes(got.body, BYTES), `"${range}" is not ignored (RFC 9110 §14.2)`);
  }
}

async function conditions({ owner }: Subject, file: File, etag: string): Promise<void> {
  const params = { fileId: file.id };
  const range = "bytes=0-9";
  owner.step("If-Range: the part when it still fits, else the whole");
  const fits = await owner.call(content, { params, headers: { range, "if-range": etag } }, { expect: 206 });
  owner.check(content, fits.body.length === 10, "not the part");
  const changed = await owner.call(content, { params, headers: { range, "if-range": '"sha256-other"' } });
  owner.check(content, sameBytes(changed.body, BYTES), "not the whole");

  owner.step("If-None-Match and If-Match");
  for (const field of [etag, "*", `"other", W/${etag}`]) {
    const unchanged = await owner.call(content, { params, headers: { "if-none-match": field } }, { expect: 304 });
    owner.check(content, unchanged.headers.get("etag") === etag, "304 without the ETag (RFC 9110 §15.4.5)");
    await owner.call(contentHead, { params, headers: { "if-none-match": field } }, { expect: 304 });
  }
  await owner.call(content, { params, headers: { "if-none-match": '"other"' } });
  await owner.call(content, { params, headers: { "if-match": etag } });
  await owner.call(content, { params, headers: { "if-match": '"other"' } }, { expect: "precondition_failed" });
}

async function replacing({ owner }: Subject, file: File, etag: string): Promise<File> {
  const params = { fileId: file.id };
  const next = sampleBytes(1234, 9);
  owner.step("new content, guarded by If-Match");
  const change = { params, headers: { "if-match": etag, "content-type": "text/plain" }, body: next };
  const replaced = (await owner.call(replace, change)).value().file;
  owner.check(
    replace,
    replaced.versionId !== file.versionId && replaced.sha256 === sha256Hex(next),
    "versionId or sha256 is old",
  );
  await owner.call(replace, change, { expect: "precondition_failed" });
  const wrong = { params, headers: { "repr-digest": digestField(BYTES) }, body: next };
  await owner.call(replace, wrong, { expect: "digest_mismatch" });
  owner.check(content, sameBytes((await owner.call(content, { params })).body, next), "not the new content");
  return replaced;
}

async function past({ owner }: Subject, file: File, replaced: File, etag: string): Promise<void> {
  const params = { fileId: file.id };
  owner.step("the content before stays, and comes back");
  const list = async (query: { limit?: number; cursor?: string } = {}) =>
    (await owner.call(api.files.versions, { params, query })).value();
  const { versions: both } = await list();
  const [newest, oldest] = both;
  owner.check(
    api.files.versions,
    both.length === 2 && newest?.versionId === replaced.versionId && oldest?.versionId === file.versionId,
    "not both versions, newest first",
  );
  owner.check(
    api.files.versions,
    newest?.expiresAt === null && oldest?.expiresAt != null && newest.number > oldest.number,
    "the current version ends, or the old one does not, or its number is not lower",
  );
  const { versions: page, nextCursor } = await list({ limit: 1 });
  const rest = nextCursor === null ? [] : (await list({ limit: 1, cursor: nextCursor })).versions;
  const paged = [...page, ...rest].map(({ versionId }) => versionId);
  owner.check(
    api.files.versions,
    paged.join() === `${replaced.versionId},${file.versionId}`,
    "pages differ from the list",
  );
  const old = await owner.call(content, { params, query: { versionId: file.versionId } });
  owner.check(content, old.headers.get("etag") === etag, "the old version has another content");
  const wanted = { fileId: file.id, sourceId: file.versionId };
  const back = (await owner.call(api.files.restoreVersion, { params: wanted })).value().file;
  owner.check(
    api.files.restoreVersion,
    back.sha256 === file.sha256 && ![file.versionId, replaced.versionId].includes(back.versionId),
    "not the old content, or no version of its own",
  );
  const again = (await owner.call(api.files.restoreVersion, { params: wanted })).value().file;
  owner.check(api.files.restoreVersion, again.versionId === back.versionId, "a repeat made another version");

  owner.step("names and places before stay, newest first");
  const renamed = (await owner.call(api.files.update, { params, body: { name: `past ${file.name}` } })).value().file;
  const { entries } = (await owner.call(api.files.entries, { params })).value();
  owner.check(
    api.files.entries,
    entries.map(({ name }) => name).join() === `${renamed.name},${file.name}`,
    "not both names, newest first",
  );
  owner.check(
    api.files.entries,
    entries[0]?.expiresAt === null && entries[1]?.expiresAt != null,
    "the current entry ends, or the old one does not",
  );

  owner.step("a version goes for good, the current one never");
  const gone = { fileId: file.id, versionId: replaced.versionId };
  const current = { fileId: file.id, versionId: back.versionId };
  await owner.call(api.files.deleteVersion, { params: current }, { expect: "current_version" });
  await owner.call(api.files.deleteVersion, { params: gone }, { expect: 204 });
  await owner.call(api.files.deleteVersion, { params: gone }, { expect: "not_found" });
  await owner.call(content, { params, query: { versionId: replaced.versionId } }, { expect: "not_found" });
}
