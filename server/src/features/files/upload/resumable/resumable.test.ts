import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { allOf, collect } from "../../../../../../test/kit/bytes.ts";
import { openMemoryBlobs } from "../../../../storage.test-kit.ts";
import { ServiceError } from "../../../../service-error.ts";
import { actAs } from "../../../account/act.ts";
import {
  answerOf,
  bodyOf,
  codeOf,
  contextOf,
  openTestService,
  outcomes,
  type TestService,
} from "../../../service.test-kit.ts";
import { create, type CreateOptions, head, headersOf, PART, patch, TUS } from "./resumable.test-kit.ts";

const HOUR = 3_600_000;

async function contentOf(service: TestService, fileId: string): Promise<string> {
  const answer = answerOf(
    await service.handlers.files.content({ params: { fileId }, query: {}, headers: {} }, contextOf(service.owner)),
  );
  return (await collect(answer)).toString();
}

test("[D5-tus] [D5-tus-file-id-header] parts at their offsets make a file; its id is answered again to HEAD and to a repeated last part", async () => {
  await using service = await openTestService();
  const { id, headers } = await create(service, 10, { metadata: { filename: "ä.txt", filetype: "text/plain" } });
  expect(headers).toMatchObject({
    "Tus-Resumable": "1.0.0",
    "Upload-Offset": "0",
    "Upload-Expires": "Wed, 02 Jan 2030 00:00:00 GMT",
  });
  expect(await patch(service, id, 0, "hello")).toMatchObject({ "Upload-Offset": "5", "Tus-Resumable": "1.0.0" });
  expect(await head(service, id)).toMatchObject({
    "Upload-Offset": "5",
    "Upload-Length": "10",
    "Cache-Control": "no-store",
  });
  const last = await patch(service, id, 5, "world");
  const fileId = last["File-Id"] ?? "";
  expect(last["Upload-Offset"]).toBe("10");
  expect(await contentOf(service, fileId)).toBe("helloworld");
  const file = answerOf(await service.handlers.files.get({ params: { fileId } }, contextOf(service.owner))).file;
  expect(file).toMatchObject({ name: "ä.txt", contentType: "text/plain", size: 10 });
  expect((await head(service, id))["File-Id"]).toBe(fileId);
  expect((await patch(service, id, 5, "world"))["File-Id"]).toBe(fileId);
  expect((await patch(service, id, 10, ""))["File-Id"]).toBe(fileId);
  for (const [offset, bytes] of [
    [5, "wORLD"],
    [5, "worl"],
    [5, "worldx"],
    [0, "hello"],
    [11, ""],
  ] as const) {
    expect(await codeOf(patch(service, id, offset, bytes)), bytes).toBe("offset_mismatch");
  }
});

test("creation-with-upload: all bytes, some of them, and none for an empty file", async () => {
  await using service = await openTestService();
  const whole = await create(service, 5, { body: bodyOf("hello", PART), metadata: { filename: "whole" } });
  expect(whole.headers["Upload-Offset"]).toBe("5");
  expect(await contentOf(service, whole.headers["File-Id"] ?? "")).toBe("hello");
  const some = await create(service, 5, { body: bodyOf("he", PART), metadata: { filename: "some" } });
  expect(some.headers["Upload-Offset"]).toBe("2");
  expect(some.headers["File-Id"]).toBeUndefined();
  expect((await patch(service, some.id, 2, "llo"))["File-Id"]).toBeDefined();
  const empty = await create(service, 0, { metadata: { filename: "empty" } });
  expect(await contentOf(service, empty.headers["File-Id"] ?? "")).toBe("");
});

test("[D5-tus-offset-conflict] a wrong offset is 409 and says where the upload stands; bytes beyond the length are refused", async () => {
  await using service = await openTestService();
  const { id } = await create(service, 10);
  await patch(service, id, 0, "12345");
  const wrong = await patch(service, id, 0, "12345").catch((error: unknown) => error);
  expect(wrong).toMatchObject({ code: "offset_mismatch", headers: { "Upload-Offset": "5", "Tus-Resumable": "1.0.0" } });
  expect(await codeOf(patch(service, id, 5, "678901"))).toBe("validation_failed");
  expect(await codeOf(patch(service, id, 5, "678901", { length: null }))).toBe("validation_failed");
  const { "Upload-Offset": offset } = await head(service, id);
  const rest = "67890".slice(Number(offset) - 5);
  expect((await patch(service, id, Number(offset), rest))["File-Id"]).toBeDefined();
});

test("[D5-tus-checksum] a part with a wrong checksum does not count; one with a right one does", async () => {
  await using service = await openTestService();
  const { id } = await create(service, 10);
  for (const algorithm of ["sha256", "sha1"] as const) {
    const digest = (text: string) => `${algorithm} ${createHash(algorithm).update(text).digest("base64")}`;
    const offset = algorithm === "sha256" ? 0 : 5;
    expect(await codeOf(patch(service, id, offset, "hello", { checksum: digest("hellO") }))).toBe("checksum_mismatch");
    expect((await head(service, id))["Upload-Offset"]).toBe(String(offset));
    expect((await patch(service, id, offset, "hello", { checksum: digest("hello") }))["Upload-Offset"]).toBe(
      String(offset + 5),
    );
  }
  for (const checksum of ["md5 AAAA", "sha256", "sha256 AAAA", "sha1 !!", "sha256  "]) {
    expect(await codeOf(patch(service, id, 10, "", { checksum })), checksum).toBe("validation_failed");
  }
});

test("another version of the protocol is refused with the one spoken", async () => {
  await using service = await openTestService();
  for (const version of [undefined, "0.2.2", "1.0"]) {
    const headers = { "upload-length": 1, ...(version === undefined ? {} : { "tus-resumable": version }) };
    const error = await service.handlers.uploads
      .create({ headers, body: bodyOf("") }, contextOf(service.owner))
      .catch((cause: unknown) => cause);
    expect(error).toMatchObject({
      code: "unsupported_tus_version",
      headers: { "Tus-Version": "1.0.0", "Tus-Resumable": "1.0.0" },
    });
  }
  const options = headersOf(
    await service.handlers.uploads.options({}, { ...contextOf(service.owner), principal: null }),
  );
  expect(options).toMatchObject({
    "Tus-Version": "1.0.0",
    "Tus-Extension": "creation,creation-with-upload,checksum,termination,expiration",
  });
});

test("[D5-tus-metadata] metadata is read strictly", async () => {
  await using service = await openTestService();
  const refused = [
    ["no file name", ""],
    ["unknown key", "filename YQ==,colour cmVk"],
    ["a prototype", "filename YQ==,__proto__ cmVk"],
    ["an inherited word", "filename YQ==,constructor cmVk"],
    ["C1 control", `filename ${Buffer.from("a\u0085b").toString("base64")}`],
    ["not base64", "filename a"],
    ["base64 with a wrong tail", "filename YR=="],
    ["not UTF-8", "filename /w=="],
    ["twice", "filename YQ==,filename YQ=="],
    ["three words", "filename YQ== x"],
    ["bad name", `filename ${Buffer.from("a/b").toString("base64")}`],
    ["bad type", `filename YQ==,filetype ${Buffer.from("x").toString("base64")}`],
    ["bad id", "filename YQ==,vaultId YQ=="],
    ["empty id", "filename YQ==,vaultId"],
    ["file and name", `filename YQ==,fileId ${Buffer.from("6f1f1c7e-9d0b-4d6e-8f4f-2f6f0c3c9d11").toString("base64")}`],
  ] as const;
  for (const [reason, text] of refused) {
    const headers = { ...TUS, "upload-length": 1, "upload-metadata": text };
    const creation = service.handlers.uploads.create({ headers, body: bodyOf("") }, contextOf(service.owner));
    expect(await codeOf(creation), reason).toBe("validation_failed");
  }
  expect((await allOf(service.blobs.list())).length).toBe(0);
});

test("[D5-tus-expired] [D1-gone-410-upload] an upload is over after 24 hours (410), is nobody else's (404), and can be given up", async () => {
  await using service = await openTestService();
  const stranger = await service.addAccount();
  const { id } = await create(service, 10);
  await patch(service, id, 0, "12345");
  expect(await codeOf(head(service, id, stranger))).toBe("not_found");
  expect(await codeOf(head(service, id, { ...service.owner, vaultIds: new Set() }))).toBe("not_found");
  service.clock.advance(24 * HOUR - 1);
  expect(await codeOf(head(service, id))).toBe("ok");
  service.clock.advance(1);
  expect(await codeOf(head(service, id))).toBe("upload_expired");
  expect(await codeOf(patch(service, id, 5, "67890"))).toBe("upload_expired");
  const other = await create(service, 10);
  await service.handlers.uploads.terminate({ params: { uploadId: other.id }, headers: TUS }, contextOf(service.owner));
  expect(await codeOf(head(service, other.id))).toBe("not_found");
});

test("giving up a finished upload keeps its file", async () => {
  await using service = await openTestService();
  const { id, headers } = await create(service, 5, { body: bodyOf("hello", PART) });
  await service.handlers.uploads.terminate({ params: { uploadId: id }, headers: TUS }, contextOf(service.owner));
  expect(await contentOf(service, headers["File-Id"] ?? "")).toBe("hello");
  const queued = await service.database.all(service.database.build.selectFrom("blob_deletions").selectAll());
  expect(queued).toEqual([]);
});

test("[D5-tus-file-id] an upload with fileId makes a new version, guarded by If-Match", async () => {
  await using service = await openTestService();
  const first = await create(service, 5, { body: bodyOf("hello", PART) });
  const fileId = first.headers["File-Id"] ?? "";
  const file = answerOf(await service.handlers.files.get({ params: { fileId } }, contextOf(service.owner))).file;
  const etag = `"sha256-${Buffer.from(file.sha256, "hex").toString("base64url")}"`;
  const version = (headers: CreateOptions["headers"]) =>
    create(service, 3, { metadata: { fileId }, ...(headers ? { headers } : {}) });
  expect(await codeOf(version({ "if-match": '"sha256-other"' }))).toBe("precondition_failed");
  expect(await codeOf(version({ "if-none-match": "*" }))).toBe("precondition_failed");
  const [early, late] = [await version({ "if-match": etag }), await version({ "if-match": etag })];
  expect((await patch(service, early.id, 0, "new"))["File-Id"]).toBe(fileId);
  expect(await codeOf(patch(service, late.id, 0, "old"))).toBe("precondition_failed");
  expect(await contentOf(service, fileId)).toBe("new");
  const usage = await service.database.first(
    service.database.build.selectFrom("accounts").select(["usage_bytes", "usage_files"]),
  );
  expect(usage).toEqual({ usage_bytes: 8, usage_files: 1 });
});

test("bytes that are all there without their file get it at the next HEAD, which says why when it cannot be", async () => {
  await using service = await openTestService();
  const { id } = await create(service, 5);
  const blocking = await create(service, 1, { body: bodyOf("x", PART) });
  expect(await codeOf(patch(service, id, 0, "hello"))).toBe("name_exists");
  expect(await codeOf(head(service, id))).toBe("name_exists");
  const params = { fileId: blocking.headers["File-Id"] ?? "" };
  await service.handlers.files.update({ params, headers: {}, body: { name: "moved away" } }, contextOf(service.owner));
  const status = await head(service, id);
  expect(status["Upload-Offset"]).toBe("5");
  expect(await contentOf(service, status["File-Id"] ?? "")).toBe("hello");
});

/** As a vault of that size that the account becomes the owner of: the quota of its files is asked alone. */
async function handOver(service: TestService, bytes: number): Promise<void> {
  await actAs(service, service.owner, async (act) => act.free({ bytes: -bytes, files: -1 }));
}

test("the bytes of an upload that cannot become its file are not read again by every HEAD", async () => {
  const blobs = openMemoryBlobs();
  let completed = 0;
  const complete = blobs.complete.bind(blobs);
  blobs.complete = (key) => {
    completed += 1;
    return complete(key);
  };
  await using service = await openTestService({ blobs, environment: { SERVICE_PRO_STORAGE_BYTES: "1000" } });
  const owner = () => contextOf(service.owner);
  const { folder } = (await service.handlers.folders.create({ body: { name: "f" } }, owner())).reply.body;
  const inFolder = await create(service, 5, { metadata: { filename: "c", folderId: folder.id } });
  const uploads = {
    name_exists: await create(service, 5, { metadata: { filename: "taken" } }),
    storage_quota: await create(service, 100, { metadata: { filename: "too much" } }),
  };
  const query = { name: "taken" };
  const blocking = { query, headers: {}, body: bodyOf("x".repeat(5)) };
  const upload = await service.handlers.files.upload(blocking, owner());
  const fileId = upload.reply.body.file.id;
  const version = await create(service, 5, { metadata: { fileId } });
  await handOver(service, 900);
  for (const [code, { id }] of Object.entries(uploads)) {
    expect(await codeOf(patch(service, id, 0, "x".repeat(code === "name_exists" ? 5 : 100)))).toBe(code);
    for (let asked = 0; asked < 10; asked += 1) expect(await codeOf(head(service, id))).toBe(code);
  }
  await service.handlers.folders.delete({ headers: {}, params: { folderId: folder.id } }, owner());
  expect(await codeOf(patch(service, inFolder.id, 0, "hello"))).toBe("trashed");
  await service.handlers.files.delete({ params: { fileId }, query: {}, headers: {} }, owner());
  expect(await codeOf(patch(service, version.id, 0, "hello"))).toBe("trashed");
  expect(completed).toBe(0);
  expect((await head(service, uploads.name_exists.id))["File-Id"]).toBeDefined();
  expect(completed).toBe(1);
});

test("a key revoked on the way makes no file; the bytes wait for a live one", async () => {
  await using service = await openTestService();
  const { id } = await create(service, 5);
  const recheck = () => Promise.reject(new ServiceError("invalid_credential"));
  expect(await codeOf(patch(service, id, 0, "hello", { recheck }))).toBe("invalid_credential");
  expect((await head(service, id))["File-Id"]).toBeDefined();
});

test("too large an upload, and one beyond the quota, are refused at its creation", async () => {
  const environment = { SERVICE_PRO_FILE_BYTES: "100", SERVICE_PRO_STORAGE_BYTES: "150" };
  await using service = await openTestService({ environment });
  expect(await codeOf(create(service, 101))).toBe("file_too_large");
  await create(service, 100, { body: bodyOf("x".repeat(100), PART) });
  expect(await codeOf(create(service, 51, { metadata: { filename: "b" } }))).toBe("storage_quota");
});

test("the quota holds for many creations at the same time: an upload holds its length from its first request on", async () => {
  await using service = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "1000" } });
  const begin = (index: number) => create(service, 300, { metadata: { filename: `${index}` } });
  const begun = await outcomes(Array.from({ length: 50 }, (_, index) => begin(index)));
  expect(begun).toEqual({ ok: 3, storage_quota: 47 });
  expect((await allOf(service.blobs.list())).length).toBe(3);
  expect(await codeOf(create(service, 100, { metadata: { filename: "rest" } }))).toBe("ok");
  expect(await codeOf(create(service, 1, { metadata: { filename: "over" } }))).toBe("storage_quota");
  expect(await codeOf(create(service, 0, { metadata: { filename: "empty" } }))).toBe("ok");
  const other = { as: await service.addAccount(), metadata: { filename: "another account's" } };
  expect(await codeOf(create(service, 1000, other))).toBe("ok");
});

test("what is given up is off the disk at once: begun and given up again and again, it would fill the disk beyond any quota", async () => {
  await using service = await openTestService();
  const { id } = await create(service, 600);
  await patch(service, id, 0, "x".repeat(599));
  await service.handlers.uploads.terminate({ params: { uploadId: id }, headers: TUS }, contextOf(service.owner));
  const { blob_key } = (await service.database.first(service.database.build.selectFrom("blob_deletions").selectAll()))!;
  expect(await service.blobs.partialLength(blob_key)).toBeNull();
});

test("what an upload holds is free again once it is given up, over, or has become its file", async () => {
  await using service = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "1000" } });
  const begin = (name: string, length: number) => create(service, length, { metadata: { filename: name } });
  const first = await begin("a", 600);
  expect(await codeOf(begin("b", 600))).toBe("storage_quota");
  await service.handlers.uploads.terminate({ params: { uploadId: first.id }, headers: TUS }, contextOf(service.owner));
  await begin("b", 600);
  service.clock.advance(24 * HOUR - 1);
  expect(await codeOf(begin("c", 600))).toBe("storage_quota");
  service.clock.advance(1);
  const third = await begin("c", 600);
  await patch(service, third.id, 0, "x".repeat(600));
  expect(await codeOf(begin("d", 401))).toBe("storage_quota");
  expect(await codeOf(begin("d", 400))).toBe("ok");
});

test("a new version's upload may use what is free, once: the old content stays", async () => {
  await using service = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "1000" } });
  const { headers } = await create(service, 800, { body: bodyOf("x".repeat(800), PART) });
  const begin = (length: number) => create(service, length, { metadata: { fileId: headers["File-Id"] ?? "" } });
  expect(await codeOf(begin(201))).toBe("storage_quota");
  expect(await codeOf(begin(200))).toBe("ok");
  expect(await codeOf(begin(1))).toBe("storage_quota");
});

test("what comes in one request leaves what they hold, and the quota holds at the finish too", async () => {
  await using service = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "1000" } });
  const begun = await Promise.all(
    Array.from({ length: 3 }, (_, index) => create(service, 300, { metadata: { filename: `${index}` } })),
  );
  const upload = (name: string, length: number) => {
    const input = { query: { name }, headers: {}, body: bodyOf("x".repeat(length)) };
    return codeOf(Promise.resolve(service.handlers.files.upload(input, contextOf(service.owner))));
  };
  expect(await upload("beyond", 101)).toBe("storage_quota");
  expect(await upload("beside", 100)).toBe("ok");
  await handOver(service, 500);
  expect(await outcomes(begun.map(({ id }) => patch(service, id, 0, "x".repeat(300))))).toEqual({
    ok: 1,
    storage_quota: 2,
  });
});

/** `npm run test:nightly` sets the count that the issue names. */
const ROUNDS = process.env["COFFER_TEST_COUNTS"] === "full" ? 1000 : 50;

test(`[D5-tus-locked] two writers at one offset: exactly one goes on, ${ROUNDS} rounds, and the bytes are right`, async () => {
  await using service = await openTestService();
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id } = await create(service, 8, { metadata: { filename: `round ${round}` } });
    for (const offset of [0, 4]) {
      const codes = await outcomes([
        patch(service, id, offset, `A${offset}aa`),
        patch(service, id, offset, `B${offset}bb`),
      ]);
      const refused = (codes["upload_locked"] ?? 0) + (codes["offset_mismatch"] ?? 0);
      expect({ ok: codes["ok"], refused }).toEqual({ ok: 1, refused: 1 });
    }
    expect(await contentOf(service, (await head(service, id))["File-Id"] ?? "")).toMatch(/^(A0aa|B0bb)(A4aa|B4bb)$/);
  }
});

test("[D5-tus-locked] a writer that lost its lease commits nothing: neither the file nor the end of the upload", async () => {
  const blobs = openMemoryBlobs();
  await using service = await openTestService({ blobs });
  const { database } = service;
  /** As another process takes a lease over. */
  const takeLeases = () =>
    database.run(
      database.build.updateTable("leases").set((row) => ({ holder: "another", fence: row("fence", "+", 1) })),
    );
  const { id } = await create(service, 5);
  const complete = blobs.complete.bind(blobs);
  blobs.complete = async (key) => {
    await takeLeases();
    return complete(key);
  };
  expect(await codeOf(patch(service, id, 0, "hello"))).toBe("upload_locked");
  expect(await database.all(database.build.selectFrom("files").select("id"))).toEqual([]);
  await database.run(database.build.deleteFrom("leases"));
  blobs.complete = complete;
  expect((await head(service, id))["File-Id"]).toMatch(/^[0-9a-f-]{36}$/);
});

test("[D5-versions-not-kept] with keep=false the content before is gone at the end: for the owner alone, from beginning to end, and in its room", async () => {
  await using service = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "100" } });
  const { "File-Id": fileId = "" } = (await create(service, 60, { body: bodyOf("a".repeat(60), PART) })).headers;
  const agent = { ...service.owner, accessLevel: "agent" as const };
  const metadata = { fileId, keep: "false" };
  expect(await codeOf(create(service, 60, { metadata: { fileId } }))).toBe("storage_quota");
  expect(await codeOf(create(service, 60, { metadata, as: agent }))).toBe("owner_only");
  for (const wrong of [
    { filename: "b", keep: "false" },
    { fileId, keep: "no" },
  ])
    expect(await codeOf(create(service, 1, { metadata: wrong }))).toBe("validation_failed");
  const { id } = await create(service, 60, { metadata });
  await patch(service, id, 0, "b".repeat(59));
  const last = { params: { uploadId: id }, headers: { ...TUS, "upload-offset": 59 }, body: bodyOf("b", PART) };
  expect(await codeOf(Promise.resolve(service.handlers.uploads.append(last, contextOf(agent))))).toBe("owner_only");
  await service.handlers.uploads.head({ params: { uploadId: id }, headers: TUS }, contextOf(service.owner));
  expect(await contentOf(service, fileId)).toBe("b".repeat(60));
  const { versions } = answerOf(
    await service.handlers.files.versions({ params: { fileId }, query: {} }, contextOf(service.owner)),
  );
  expect(versions.map(({ number }) => number)).toEqual([2]);
});
