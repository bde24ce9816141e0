import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { allOf } from "../../../../../test/kit/bytes.ts";
import { batchForm, FORM_TYPE, type FormPart } from "../../../../../test/kit/batch-form.ts";
import type { Principal } from "../../../handler.ts";
import { deleteQueuedBlobs } from "../../../jobs/blob-deletions.ts";
import { sweepOrphans } from "../../../jobs/sweep.ts";
import { jobsOf } from "../../../jobs/jobs.test-kit.ts";
import { ofEachTest } from "../../../each.test-kit.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService } from "../../service.test-kit.ts";

const service = ofEachTest(openTestService);
const DAY = 24 * 60 * 60_000;

interface Sent {
  readonly by?: Principal;
  readonly vaultId?: string;
  readonly contentType?: string;
}

async function send(body: Buffer, { by = service.owner, vaultId, contentType = FORM_TYPE }: Sent = {}) {
  const query = vaultId === undefined ? {} : { vaultId };
  const input = { query, headers: { "content-type": contentType }, body: bodyOf(body, { contentType, chunk: 999 }) };
  return answerOf(await service.handlers.files.batch(input, contextOf(by))).results;
}

const store = (parts: readonly FormPart[], sent?: Sent) => send(batchForm(parts), sent);
const outcomes = async (parts: readonly FormPart[], sent?: Sent) =>
  (await store(parts, sent)).map(({ file, error }) => file?.name ?? error?.code);

async function read(fileId: string): Promise<string> {
  const answer = await service.handlers.files.content(
    { params: { fileId }, query: {}, headers: {} },
    contextOf(service.owner),
  );
  return text(Readable.from(answerOf(answer) ?? []));
}

async function usage() {
  const { build } = service.database;
  const query = build.selectFrom("accounts").selectAll().where("id", "=", service.owner.accountId);
  const account = await service.database.first(query);
  return [account?.usage_bytes, account?.usage_files];
}

async function makeFolder(vaultId: string): Promise<string> {
  const made = await service.handlers.folders.create({ body: { name: "F", vaultId } }, contextOf(service.owner));
  return made.reply.body.folder.id;
}

const countBlobs = async () => (await allOf(service.blobs.list())).length;

async function makeVault(by: Principal = service.owner): Promise<string> {
  const made = await service.handlers.vaults.create(
    { body: { name: crypto.randomUUID(), type: "public" } },
    contextOf(by),
  );
  return made.reply.body.vault.id;
}

test("stores each part as an upload by itself would, in the order of the parts [D5-batch]", async () => {
  const results = await store([
    { said: { name: "a.txt", contentType: "text/plain" }, content: "one" },
    { said: { name: "\u00e9t\u00e9" }, content: "" },
    { said: String.raw`{"name":"\u00e9t\u00e9 2"}`, content: Buffer.from("\r\n--frontie\r\n--") },
  ]);
  expect(results.map(({ file, error }) => [file?.name, file?.size, file?.contentType, error])).toEqual([
    ["a.txt", 3, "text/plain", null],
    [
      undefined,
      undefined,
      undefined,
      { code: "validation_failed", message: "parts[1]: the header Coffer-File must be JSON in ASCII" },
    ],
    ["été 2", 15, "application/octet-stream", null],
  ]);
  expect(await read(results[2]?.file?.id ?? "")).toBe("\r\n--frontie\r\n--");
  expect(await usage()).toEqual([18, 2]);
});

test("a part that is refused stores nothing and stops no other", async () => {
  const [vaultId, other] = [await makeVault(), await makeVault()];
  const [folder, elsewhere] = [await makeFolder(vaultId), await makeFolder(other)];
  const before = await countBlobs();
  expect(
    await outcomes(
      [
        { said: { name: "a" }, content: "first" },
        { said: { name: "a" }, content: "again" },
        { said: { name: "a", ifNoneMatch: "*" }, content: "again" },
        { said: { name: "a", folderId: folder }, content: "in a folder" },
        { said: { name: "b", reprDigest: `sha-256=:${"A".repeat(43)}=:` }, content: "other bytes" },
        { said: { name: "c", folderId: elsewhere }, content: "another vault's folder" },
        { said: { name: "c", folderId: other }, content: "no folder" },
        { said: {}, content: "no name" },
        { said: { name: "d", owner: true }, content: "unknown field" },
        { said: null, content: "no header" },
        { said: "{", content: "no JSON" },
        { said: { name: "e" }, content: "last" },
      ],
      { vaultId },
    ),
  ).toEqual([
    ...["a", "name_exists", "precondition_failed", "a", "digest_mismatch", "different_vault", "not_found"],
    ...["validation_failed", "validation_failed", "validation_failed", "validation_failed", "e"],
  ]);
  expect(await usage()).toEqual([20, 3]);
  expect((await countBlobs()) - before).toBe(3);
});

test("a vault that the caller does not reach is refused before a byte is read", async () => {
  const [mine, other] = [await makeVault(), await makeVault()];
  const foreign = await makeVault(await service.addAccount());
  const by = { ...service.owner, vaultIds: new Set([mine]) };
  const parts = [{ said: { name: "a" }, content: "x" }];
  expect(await codeOf(store(parts, { by, vaultId: other }))).toBe("not_found");
  expect(await codeOf(store(parts, { vaultId: foreign }))).toBe("not_found");
  expect(await outcomes(parts, { by })).toEqual(["vault_required"]);
  expect(await outcomes(parts, { by, vaultId: mine })).toEqual(["a"]);
  const folders = [await makeFolder(other), await makeFolder(mine)];
  const placed = folders.map((folderId) => ({ said: { name: "b", folderId }, content: "x" }));
  expect(await outcomes(placed, { by })).toEqual(["not_found", "b"]);
});

test("files that do not fit any more are refused in their order", async () => {
  await using small = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "10" } });
  const body = batchForm([4, 5, 3, 1].map((size, at) => ({ said: { name: `f${at}` }, content: "x".repeat(size) })));
  const input = { query: {}, headers: { "content-type": FORM_TYPE }, body: bodyOf(body, { contentType: FORM_TYPE }) };
  const { results } = answerOf(await small.handlers.files.batch(input, contextOf(small.owner)));
  expect(results.map(({ file, error }) => file?.name ?? error?.code)).toEqual(["f0", "f1", "storage_quota", "f3"]);
});

test("what is no batch is refused whole, and stores nothing", async () => {
  const part = { said: { name: "a" }, content: "x" };
  const whole = batchForm([part]);
  expect(await codeOf(send(Buffer.alloc(0)))).toBe("validation_failed");
  expect(await codeOf(send(batchForm([])))).toBe("validation_failed");
  for (let length = 1; length < whole.length - 4; length += 7)
    expect(await codeOf(send(whole.subarray(0, length)))).toBe("validation_failed");
  expect(await codeOf(send(whole, { contentType: "multipart/form-data" }))).toBe("validation_failed");
  expect(await codeOf(send(whole, { contentType: `multipart/form-data; boundary=${"b".repeat(71)}` }))).toBe(
    "validation_failed",
  );
  const many = Array.from({ length: 101 }, (_, at) => ({ said: { name: `f${at}` }, content: "x" }));
  expect(await codeOf(store(many))).toBe("validation_failed");
  const large = Buffer.alloc(4 * 1024 * 1024 + 1);
  expect(await codeOf(store(["a", "b"].map((name) => ({ said: { name }, content: large }))))).toBe("body_too_large");
  expect(await codeOf(store([{ said: { name: "a" }, content: Buffer.alloc(12 * 1024 * 1024) }]))).toBe(
    "body_too_large",
  );
  expect(await usage()).toEqual([0, 0]);
  expect(await countBlobs()).toBe(0);
});

test("a header of any length or kind is read or refused", async () => {
  const named = (said: string) =>
    store([
      { said, content: "x" },
      { said: { name: crypto.randomUUID() }, content: "y" },
    ]);
  for (const said of [
    "[]",
    "null",
    "1",
    '"a"',
    "{".repeat(8000),
    `{"name":"${"a".repeat(9000)}"}`,
    '{"__proto__":{"name":"a"}}',
  ])
    expect((await named(said)).map(({ file, error }) => file?.size ?? error?.code)).toEqual(["validation_failed", 1]);
});

test("what a batch that was cut off has written goes with the next sweep, after its time in quarantine", async () => {
  await store([{ said: { name: "kept" }, content: "k" }]);
  const body = bodyOf(batchForm([{ said: { name: "a" }, content: "x" }]), { contentType: FORM_TYPE });
  const context = { ...contextOf(service.owner), recheck: () => Promise.reject(new Error("the process ends here")) };
  await expect(
    service.handlers.files.batch({ query: {}, headers: { "content-type": FORM_TYPE }, body }, context),
  ).rejects.toThrow();
  expect(await countBlobs()).toBe(2);
  service.clock.advance(DAY);
  expect(await sweepOrphans(jobsOf(service))).toMatchObject({ orphans: 1, stopped: 0 });
  expect(await countBlobs()).toBe(2);
  service.clock.advance(7 * DAY);
  await deleteQueuedBlobs(jobsOf(service), new AbortController().signal);
  expect(await countBlobs()).toBe(1);
  expect(await usage()).toEqual([1, 1]);
});
