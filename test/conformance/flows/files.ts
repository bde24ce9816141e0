import { api, plainTag, TUS_VERSION, type File } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { walkPages } from "../paging.ts";
import { digestField, sampleBytes, sha256Hex, tusMetadata } from "../samples.ts";

const BYTES = sampleBytes(70_001);
const { get, list, upload } = api.files;

export const filesFlow: Flow = async (subject) => {
  const file = await uploads(subject);
  await refusals(subject, file);
  await listings(subject);
  if (subject.covers(api.files.search)) await searches(subject);
  if (subject.covers(api.files.commit)) await commits(subject);
  await changes(subject, file);
  await trash(subject, file);
};

async function uploads(subject: Subject): Promise<File> {
  const { owner, name, vaultId } = subject;
  owner.step("raw bytes with their digest become a file");
  const title = `${name("re\u0301sume\u0301")} ö 漢.txt`;
  const headers = { "content-type": "text/plain; charset=utf-8", "content-digest": digestField(BYTES) };
  const { file } = (await owner.call(upload, { query: { vaultId, name: title }, headers, body: BYTES })).value();
  owner.check(
    upload,
    file.sha256 === sha256Hex(BYTES) && file.size === BYTES.length,
    "sha256 or size is not that of the bytes",
  );
  owner.check(upload, file.name === title.normalize("NFC"), "the name is not the NFC form of the one sent");
  owner.check(
    upload,
    file.contentType === headers["content-type"] && file.folderId === null,
    "contentType or folderId is wrong",
  );
  const read = (await owner.call(get, { params: { fileId: file.id } })).value().file;
  owner.check(
    get,
    JSON.stringify(read) === JSON.stringify(file),
    "the file reads differently from what its upload answered",
  );

  owner.step("an empty body is an empty file, and Repr-Digest is a digest too");
  const none = new Uint8Array(0);
  const empty = { query: { vaultId, name: name("empty") }, headers: { "repr-digest": digestField(none) }, body: none };
  owner.check(upload, (await owner.call(upload, empty)).value().file.size === 0, "the size is not 0");

  if (subject.covers("uploads as multipart/form-data")) await formUpload(subject);
  if (subject.covers(api.files.batch)) await batch(subject);
  return file;
}

const BOUNDARY = "conformance-boundary";

async function formUpload({ owner, name, vaultId }: Subject): Promise<void> {
  owner.step("one file part of multipart/form-data, named by the part");
  const partName = name("part");
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${partName}"\r\ncontent-type: image/png\r\n\r\n`;
  const body = new Uint8Array(Buffer.concat([Buffer.from(head), BYTES, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]));
  const form = { query: { vaultId }, headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` }, body };
  const part = (await owner.call(upload, form)).value().file;
  owner.check(
    upload,
    part.name === partName && part.contentType === "image/png" && part.sha256 === sha256Hex(BYTES),
    "name, contentType or sha256 is not the part's",
  );
}

async function batch({ owner, name, vaultId }: Subject): Promise<void> {
  owner.step("many files in one request, each with its own result");
  const titles = [name("first"), name("été"), ""];
  const pieces = titles.map((title) => {
    const said = JSON.stringify({ name: title, reprDigest: digestField(BYTES) }).replaceAll("é", String.raw`\u00e9`);
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"\r\ncoffer-file: ${said}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), BYTES, Buffer.from("\r\n")]);
  });
  const body = new Uint8Array(Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]));
  const headers = { "content-type": `multipart/form-data; boundary=${BOUNDARY}` };
  const send = () => owner.call(api.files.batch, { query: { vaultId }, headers, body });
  const { results } = (await send()).value();
  owner.check(
    api.files.batch,
    results.map(({ file, error }) => file?.name ?? error?.code).join() ===
      `${titles[0]},${titles[1]},validation_failed`,
    "the results are not those of the parts, in their order",
  );
  const [stored] = results;
  owner.check(api.files.batch, stored?.file?.sha256 === sha256Hex(BYTES), "sha256 is not that of the part");
  const again = (await send()).value().results.map(({ error }) => error?.code);
  owner.check(api.files.batch, again.join() === "name_exists,name_exists,validation_failed", "names were taken twice");
}

async function commits({ owner, name, vaultId }: Subject): Promise<void> {
  const { commit } = api.files;
  owner.step("several changes of files are done together, or none of them; names may be swapped");
  const [a, b] = [name("one"), name("other")];
  const files: File[] = [];
  for (const title of [a, b])
    files.push((await owner.call(upload, { query: { vaultId, name: title }, headers: {}, body: BYTES })).value().file);
  const [first, second] = files;
  if (first === undefined || second === undefined) throw new Error("no files");
  const headers = {
    "tus-resumable": TUS_VERSION,
    "upload-length": BYTES.length,
    "upload-metadata": tusMetadata({ fileId: first.id, held: "true" }),
  };
  const begun = await owner.call(api.uploads.create, { headers, body: BYTES });
  const uploadId = (begun.headers.get("location") ?? "").slice("/api/uploads/".length);
  owner.check(api.uploads.create, begun.headers.get("file-id") === null, "a held upload has made its version");
  const changes = [
    { id: first.id, ifMatch: plainTag(first), name: b, uploadId },
    { id: second.id, ifMatch: plainTag(second), name: a },
  ];
  const wrong = changes.map((change, at) => (at === 0 ? change : { ...change, ifMatch: '"0.other"' }));
  await owner.call(commit, { body: { vaultId, changes: wrong } }, { expect: "precondition_failed" });
  const done = (await owner.call(commit, { body: { vaultId, changes } })).value().files;
  owner.check(commit, done.map((file) => file.name).join() === `${b},${a}`, "the names are not swapped");
  owner.check(
    commit,
    done[0]?.versionId !== first.versionId && done[1]?.versionId === second.versionId,
    "the content is not where it was sent",
  );
  await owner.call(commit, { body: { vaultId, changes: changes.slice(1) } }, { expect: "precondition_failed" });
}

async function refusals({ owner, name, vaultId }: Subject, file: File): Promise<void> {
  owner.step("a wrong digest stores nothing");
  const refused = name("refused");
  const wrong = {
    query: { vaultId, name: refused },
    headers: { "content-digest": digestField(new Uint8Array(3)) },
    body: BYTES,
  };
  await owner.call(upload, wrong, { expect: "digest_mismatch" });
  const after = (await owner.call(list, { query: { vaultId, name: refused } })).value().files;
  owner.check(upload, after.length === 0, "the file is there all the same");

  owner.step("a taken name, an absent name, a folder or vault of nobody");
  const body = new Uint8Array([1]);
  const unknown = "00000000-0000-4000-8000-000000000000";
  await owner.call(upload, { query: { vaultId, name: file.name }, headers: {}, body }, { expect: "name_exists" });
  await owner.call(
    upload,
    { query: { vaultId, name: file.name }, headers: { "if-none-match": "*" }, body },
    { expect: "precondition_failed" },
  );
  await owner.call(upload, { query: { vaultId }, headers: {}, body }, { expect: "validation_failed" });
  await owner.call(
    upload,
    { query: { vaultId, folderId: unknown, name: "a" }, headers: {}, body },
    { expect: "not_found" },
  );
  await owner.call(upload, { query: { vaultId: unknown, name: "a" }, headers: {}, body }, { expect: "not_found" });
}

async function listings({ owner, name, vaultId }: Subject): Promise<void> {
  owner.step("pages of two, newest first, each file once; a broken cursor is refused");
  const made: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const input = { query: { vaultId, name: name(`page${String(at)}`) }, headers: {}, body: new Uint8Array([at]) };
    made.push((await owner.call(upload, input)).value().file.id);
  }
  const all = await walkPages(
    async (cursor) => (await owner.call(list, { query: { vaultId, limit: 2, ...cursor } })).value(),
    (page) => page.files,
  );
  const ids = all.map(({ id }) => id);
  owner.check(
    list,
    new Set(ids).size === ids.length && made.every((id) => ids.includes(id)),
    "a file is missing or came twice",
  );
  owner.check(
    list,
    all.every((file, at) => at === 0 || file.createdAt <= (all[at - 1]?.createdAt ?? "")),
    "not newest first",
  );
  const { nextCursor } = (await owner.call(list, { query: { vaultId, limit: 2 } })).value();
  owner.check(list, nextCursor !== null, "no cursor although more files are there");
  await owner.call(list, { query: { vaultId, cursor: `${nextCursor ?? ""}x` } }, { expect: "validation_failed" });
}

async function searches({ owner, ownerKey, name, vaultId }: Subject): Promise<void> {
  owner.step("a search folds case and accents, and ranks words before prefixes before infixes");
  const { search } = api.files;
  const mark = name("Q").replaceAll(/[^a-z0-9]/giu, "");
  const body = new Uint8Array([1]);
  const made = [];
  for (const title of [`x${mark}`, `${mark}x`, `É ${mark.toLowerCase()}`, `E ${mark}`])
    made.push((await owner.call(upload, { query: { vaultId, name: title }, headers: {}, body })).value().file.id);
  const all = await walkPages(
    async (cursor) => (await owner.call(search, { query: { q: mark, limit: 1, ...cursor } })).value(),
    (page) => page.files,
  );
  owner.check(search, all.map(({ id }) => id).join() === made.toReversed().join(), "not by rank, then newest first");
  const both = (
    await owner.call(search, { query: { q: `e ${mark}`, vaultId, type: "application/", maxSize: 1 } })
  ).value();
  owner.check(search, both.files.length === 2 && both.complete && both.nextCursor === null, "not both of the words");
  const none = (await owner.call(search, { query: { q: mark, trashed: true } })).value();
  owner.check(search, none.files.length === 0 && none.complete, "a live file is found in the trash");

  owner.step("texts without words, too long or unprintable, and broken cursors are refused");
  const { nextCursor } = (await owner.call(search, { query: { q: mark, limit: 1 } })).value();
  const ask = (query: string) =>
    new Request(`${owner.baseUrl}/api/files/search?${query}`, { headers: { authorization: `Bearer ${ownerKey}` } });
  for (const query of [
    ...[
      "q=",
      "q=%22*(-",
      "q=a%00b",
      `q=${"a".repeat(10_000)}`,
      `q=${"abcdefghijklmnopq".split("").join("+")}`,
      "type=image",
    ],
    ...["minSize=-1", "since=today", "by=me", `q=e&cursor=${nextCursor ?? ""}x`],
  ])
    await owner.send(search, ask(query), "validation_failed");
  for (const q of ['a" OR "b', "a AND NOT NEAR(b c)", "name:a*", "^a + {b}"])
    await owner.call(search, { query: { q } });
  await owner.call(search, { query: { vaultId: "00000000-0000-4000-8000-000000000000" } }, { expect: "not_found" });
}

async function changes({ owner, name, vaultId }: Subject, file: File): Promise<void> {
  const params = { fileId: file.id };
  owner.step("a file is moved and renamed; conditions guard it");
  const folder = (await owner.call(api.folders.create, { body: { name: name("home"), vaultId } })).value().folder;
  const tagOfContent = async () =>
    (await owner.call(api.files.content, { params, headers: { range: "bytes=0-0" } }, { expect: 206 })).headers.get(
      "etag",
    );
  const etag = await tagOfContent();
  const stale = { params, headers: { "if-match": '"sha256-stale"' }, body: { name: "never" } };
  await owner.call(api.files.update, stale, { expect: "precondition_failed" });
  const change = {
    params,
    headers: { "if-match": `"${String(file.revision)}"` },
    body: { name: name("moved"), folderId: folder.id },
  };
  const moved = (await owner.call(api.files.update, change)).value().file;
  await owner.call(api.files.update, change, { expect: "precondition_failed" });
  owner.check(api.files.update, moved.revision > file.revision, "revision did not rise");
  owner.check(
    api.files.content,
    etag !== null && (await tagOfContent()) === etag,
    "the content's entity tag changed with its file's name",
  );
  owner.check(
    api.files.update,
    moved.folderId === folder.id && moved.versionId === file.versionId,
    "folderId is old, or versionId changed without new content",
  );
  const inside = (await owner.call(list, { query: { folderId: folder.id } })).value().files;
  owner.check(list, inside.length === 1 && inside[0]?.id === file.id, "the folder's list does not hold the moved file");
  const back = (await owner.call(api.files.update, { params, body: { folderId: null } })).value().file;
  owner.check(api.files.update, back.folderId === null, "null did not move the file to the top");

  owner.step("files do not cross vaults");
  const other = (await owner.call(api.vaults.create, { body: { name: name("else"), type: "public" } })).value().vault;
  const foreign = (await owner.call(api.folders.create, { body: { name: "foreign", vaultId: other.id } })).value()
    .folder;
  await owner.call(api.files.update, { params, body: { folderId: foreign.id } }, { expect: "different_vault" });
  await owner.call(
    api.vaults.delete,
    { params: { vaultId: other.id }, query: { force: true, permanent: true } },
    { expect: 204 },
  );
}

async function trash({ owner, name }: Subject, file: File): Promise<void> {
  const params = { fileId: file.id };
  owner.step("to the trash and back");
  await owner.call(api.files.restore, { params }, { expect: "not_trashed" });
  const trashed = (await owner.call(api.files.delete, { params })).value().file;
  owner.check(api.files.delete, trashed.trashedAt !== null, "trashedAt is null");
  await owner.call(api.files.content, { params }, { expect: "trashed" });
  await owner.call(api.files.update, { params, body: { name: "never" } }, { expect: "trashed" });
  const restored = (await owner.call(api.files.restore, { params, body: { name: name("back") } })).value().file;
  owner.check(api.files.restore, restored.trashedAt === null && restored.id === file.id, "the file did not come back");

  owner.step("for good");
  await owner.call(api.files.delete, { params, query: { permanent: true } }, { expect: 204 });
  await owner.call(get, { params }, { expect: "not_found" });
}
