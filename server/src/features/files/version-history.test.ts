import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../handler.ts";
import { expireVersions } from "../../jobs/expiry.ts";
import { sweepOrphans } from "../../jobs/sweep.ts";
import { deleteADayLater, jobsOf } from "../../jobs/jobs.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { answerOf, bodyOf, codeOf, contextOf, insertTestKey, openTestService } from "../service.test-kit.ts";

const DAY = 24 * 60 * 60_000;
const service = ofEachTest(openTestService);
let agent: Principal;
let vaultId: string;

beforeEach(async () => {
  const keyId = await insertTestKey(service.database, service.owner.accountId, service.clock.now());
  agent = { ...service.owner, keyId, name: "agent", accessLevel: "agent" };
  const made = await service.handlers.vaults.create({ body: { name: "V", type: "public" } }, contextOf(service.owner));
  vaultId = made.reply.body.vault.id;
});

async function upload(bytes: string, by: Principal = service.owner) {
  const input = { query: { name: `file ${bytes}`, vaultId }, headers: {}, body: bodyOf(bytes) };
  return answerOf(await service.handlers.files.upload(input, contextOf(by))).file;
}

async function replace(fileId: string, bytes: string, by: Principal = service.owner, keep?: boolean) {
  service.clock.advance(1000);
  const query = keep === undefined ? {} : { keep };
  const input = { params: { fileId }, query, headers: {}, body: bodyOf(bytes, { contentType: `text/${bytes}` }) };
  return answerOf(await service.handlers.files.replace(input, contextOf(by))).file;
}

async function versionsOf(fileId: string, query: { limit?: number; cursor?: string } = {}) {
  return answerOf(await service.handlers.files.versions({ params: { fileId }, query }, contextOf(agent)));
}

async function read(fileId: string, versionId?: string, headers: { range?: string } = {}): Promise<string> {
  const query = versionId === undefined ? {} : { versionId };
  const answer = await service.handlers.files.content({ params: { fileId }, query, headers }, contextOf(agent));
  return text(Readable.from(answerOf(answer) ?? []));
}

async function restoreVersion(fileId: string, sourceId: string, by: Principal = agent) {
  const params = { fileId, sourceId };
  return answerOf(await service.handlers.files.restoreVersion({ headers: {}, params, body: undefined }, contextOf(by)))
    .file;
}

const deleteVersion = async (fileId: string, versionId: string) =>
  service.handlers.files.deleteVersion({ params: { fileId, versionId }, headers: {} }, contextOf(service.owner));

async function usage() {
  const { build } = service.database;
  const row = await service.database.first(
    build
      .selectFrom("accounts")
      .select(["usage_bytes", "usage_version_bytes"])
      .where("id", "=", service.owner.accountId),
  );
  return [row?.usage_bytes, row?.usage_version_bytes];
}

const expire = () => expireVersions(service, new AbortController().signal);

/** Runs the queue, and compares what is left with what rows have: every blob once, each counted once, and nothing else. */
async function requireExact(): Promise<void> {
  const { database, blobs, clock } = service;
  const errors: unknown[] = [];
  const jobs = jobsOf(service, { info: () => undefined, error: (...given: unknown[]) => void errors.push(given) });
  clock.advance(120_000);
  await deleteADayLater(jobs);
  expect(await sweepOrphans(jobs)).toMatchObject({ orphans: 0, putBack: 0, dangling: 0, stopped: 0 });
  expect(errors).toEqual([]);
  const files = await database.all(database.build.selectFrom("files").select(["blob_key", "size"]));
  const kept = await database.all(database.build.selectFrom("file_versions").select(["blob_key", "size"]));
  const current = new Map(files.map(({ blob_key, size }) => [blob_key, size]));
  const all = new Map([...kept, ...files].map(({ blob_key, size }) => [blob_key, size]));
  const stored: string[] = [];
  for await (const { key } of blobs.list()) stored.push(key);
  expect(stored.sort()).toEqual([...all.keys()].sort());
  const sum = (sizes: Iterable<number>) => [...sizes].reduce((bytes, size) => bytes + size, 0);
  expect(await usage()).toEqual([sum(all.values()), sum(all.values()) - sum(current.values())]);
}

test("[D5-versions-list] [D5-versions-content] replaced content stays: newest first in pages, with author, time and how; each opens whole and in part", async () => {
  const { id } = await upload("1");
  await replace(id, "22", agent);
  const third = await replace(id, "333");
  const { versions, nextCursor } = await versionsOf(id);
  expect(nextCursor).toBeNull();
  expect(versions.map(({ number, size, how, contentType }) => [number, size, how, contentType])).toEqual([
    [3, 3, "replace", "text/333"],
    [2, 2, "replace", "text/22"],
    [1, 1, "upload", "application/octet-stream"],
  ]);
  expect(versions[0]).toMatchObject({ versionId: third.versionId, sha256: third.sha256, expiresAt: null });
  expect(versions[1]).toMatchObject({
    author: { kind: "api-key", id: agent.keyId, name: "agent", chainAddress: null },
    createdAt: "2030-01-01T00:00:01.000Z",
    expiresAt: "2030-01-31T00:00:02.000Z",
  });
  expect(await Promise.all(versions.map(({ versionId }) => read(id, versionId)))).toEqual(["333", "22", "1"]);
  expect(await read(id, versions[1]?.versionId, { range: "bytes=1-" })).toBe("2");
  const first = await versionsOf(id, { limit: 2 });
  const second = await versionsOf(id, { limit: 2, cursor: first.nextCursor ?? "" });
  expect([...first.versions, ...second.versions]).toEqual(versions);
  const other = await upload("other");
  expect(await codeOf(versionsOf(other.id, { cursor: first.nextCursor ?? "" }))).toBe("validation_failed");
  expect(await codeOf(read(other.id, versions[1]?.versionId))).toBe("not_found");
  const stranger = await service.addAccount();
  const theirs = service.handlers.files.versions({ params: { fileId: id }, query: {} }, contextOf(stranger));
  expect(await codeOf(Promise.resolve(theirs))).toBe("not_found");
  await requireExact();
});

test("[D5-versions-restore] a restored version is a new one, and its bytes are stored once; a repeat changes nothing", async () => {
  const { id, versionId } = await upload("one");
  const second = await replace(id, "second");
  expect(await usage()).toEqual([9, 3]);
  const restored = await restoreVersion(id, versionId);
  expect(restored).toMatchObject({ size: 3, contentType: "application/octet-stream" });
  expect([versionId, second.versionId]).not.toContain(restored.versionId);
  expect(await usage()).toEqual([9, 6]);
  expect(await restoreVersion(id, versionId)).toEqual(restored);
  expect(await restoreVersion(id, restored.versionId)).toEqual(restored);
  const { versions } = await versionsOf(id);
  expect(versions.map(({ number, how }) => [number, how])).toEqual([
    [3, "restore"],
    [2, "replace"],
    [1, "upload"],
  ]);
  await deleteVersion(id, versionId);
  await requireExact();
  expect(await read(id)).toBe("one");
  await replace(id, "fourth");
  await restoreVersion(id, restored.versionId);
  await replace(id, "sixth", service.owner, false);
  await requireExact();
  expect(await read(id, restored.versionId)).toBe("one");
  await service.handlers.files.delete({ params: { fileId: id }, query: {}, headers: {} }, contextOf(agent));
  expect(await codeOf(restoreVersion(id, restored.versionId))).toBe("trashed");
  const forGood = { params: { fileId: id }, query: { permanent: true }, headers: {} };
  await service.handlers.files.delete(forGood, contextOf(service.owner));
  await requireExact();
  expect(await usage()).toEqual([0, 0]);
});

test("[D5-versions-delete] one is deleted for good, and never the current one", async () => {
  const { id, versionId } = await upload("1");
  const { versionId: current } = await replace(id, "22");
  expect(await codeOf(Promise.resolve(deleteVersion(id, current)))).toBe("current_version");
  await deleteVersion(id, versionId);
  expect(await codeOf(Promise.resolve(deleteVersion(id, versionId)))).toBe("not_found");
  expect(await codeOf(read(id, versionId))).toBe("not_found");
  expect(await codeOf(restoreVersion(id, versionId))).toBe("not_found");
  const { build } = service.database;
  const noted = await service.database.all(build.selectFrom("changes").select("action").orderBy("sequence", "desc"));
  expect(noted[0]?.action).toBe("file.version_deleted");
  await requireExact();
});

test("[D5-versions-kept] 30 days, or as many as the vault says, also of what is kept already; the newest stays", async () => {
  const params = { vaultId };
  const patch = (keepVersionsDays: number | null) =>
    service.handlers.vaults.update({ params, headers: {}, body: { keepVersionsDays } }, contextOf(service.owner));
  const { id, versionId } = await upload("1");
  await replace(id, "22");
  const end = async () => (await versionsOf(id)).versions[1]?.expiresAt;
  expect(await end()).toBe("2030-01-31T00:00:01.000Z");
  expect(answerOf(await patch(365)).vault.keepVersionsDays).toBe(365);
  expect(await end()).toBe("2031-01-01T00:00:01.000Z");
  service.clock.advance(40 * DAY);
  expect(await expire()).toEqual({ expired: 0 });
  await replace(id, "333");
  expect(answerOf(await patch(null)).vault.keepVersionsDays).toBeNull();
  expect((await versionsOf(id)).versions.map(({ number }) => number)).toEqual([3, 2]);
  expect(await codeOf(read(id, versionId))).toBe("not_found");
  expect(await expire()).toEqual({ expired: 1 });
  await requireExact();
  service.clock.advance(31 * DAY);
  expect(await expire()).toEqual({ expired: 1 });
  await requireExact();
  expect(await read(id)).toBe("333");
  expect(await usage()).toEqual([3, 0]);
});

test("[D5-versions-kept] beyond 100 the oldest of the newest version's own author go, and nobody else's", async () => {
  const { id, versionId } = await upload("owner's");
  for (let at = 1; at <= 105; at += 1) await replace(id, String(at), agent);
  const { versions } = await versionsOf(id, { limit: 1000 });
  expect(versions).toHaveLength(101);
  expect(versions.map(({ number }) => number).slice(-2)).toEqual([7, 1]);
  expect(await read(id, versionId)).toBe("owner's");
  await requireExact();
});

describe("[D5-versions-not-kept] without keeping", () => {
  test("the content before is gone, and those before it stay; an agent may not", async () => {
    const { id, versionId } = await upload("1");
    const second = await replace(id, "22");
    expect(await codeOf(replace(id, "never", agent, false))).toBe("owner_only");
    await replace(id, "333", service.owner, false);
    expect(await codeOf(read(id, second.versionId))).toBe("not_found");
    expect(await read(id, versionId)).toBe("1");
    expect((await versionsOf(id)).versions.map(({ number }) => number)).toEqual([3, 1]);
    await requireExact();
  });

  test("kept versions count: a full account replaces nothing but that way", async () => {
    await using small = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "100" } });
    const put = (input: object) =>
      codeOf(Promise.resolve(small.handlers.files.replace(input as never, contextOf(small.owner))));
    const first = { query: { name: "a" }, headers: {}, body: bodyOf("x".repeat(60)) };
    const { id } = answerOf(await small.handlers.files.upload(first, contextOf(small.owner))).file;
    const next = () => ({ params: { fileId: id }, headers: {}, body: bodyOf("y".repeat(60)) });
    expect(await put({ ...next(), query: {} })).toBe("storage_quota");
    expect(await put({ ...next(), query: { keep: false } })).toBe("ok");
  });
});

test("whatever is done, every blob has a row, counts once, and goes with its last row", async () => {
  let seed = 7;
  const draw = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const ids = [(await upload("a")).id, (await upload("")).id];
  for (let turn = 0; turn < 150; turn += 1) {
    const id = ids[draw(2)] ?? "";
    const { versions } = await versionsOf(id);
    const one = versions[draw(versions.length)]?.versionId ?? "";
    const act = draw(8);
    if (act < 3) await replace(id, "x".repeat(draw(4)), draw(2) === 0 ? agent : service.owner);
    else if (act < 6) await restoreVersion(id, one);
    else if (act === 6) await codeOf(Promise.resolve(deleteVersion(id, one)));
    else await replace(id, "y".repeat(draw(3)), service.owner, false);
    if (turn % 10 === 9) service.clock.advance(8 * DAY);
    if (turn % 25 === 24) await expire();
    if (turn % 5 === 4) await requireExact();
  }
  const params = { vaultId };
  const forGood = { params, query: { force: true, permanent: true }, headers: {} };
  await service.handlers.vaults.delete(forGood, contextOf(service.owner));
  await requireExact();
  expect(await usage()).toEqual([0, 0]);
});
