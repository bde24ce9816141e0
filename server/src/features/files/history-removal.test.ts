/** Files and folders of a long past, deleted for good: whoever looks sees all of the deletion, whenever its writer is killed. */
import { beforeEach, describe, expect, test } from "vitest";
import { expireEntries, expireVersions } from "../../jobs/expiry.ts";
import { deleteQueuedBlobs } from "../../jobs/blob-deletions.ts";
import { jobsOf } from "../../jobs/jobs.test-kit.ts";
import { purgeTrash } from "../../jobs/trash-purge.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { ON_POSTGRES } from "../../storage.test-kit.ts";
import { newUpload, nextVersion, openWriting, replace, send } from "./shared-files.test-kit.ts";
import { sumGivenUp } from "../holds/store.ts";
import { deleteFileForGood, prove } from "../deletion/proofs.test-kit.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService } from "../service.test-kit.ts";
import { watchWriter } from "../tree-acts/large-account.test-kit.ts";
import { oneStep } from "../tree-acts/steps.test-kit.ts";
import { readVaultContents } from "../vaults/store.ts";
import { finishPurges } from "../vaults/purging.ts";
import { finishHistoryRemovals } from "./history-removal.ts";

const DAY = 24 * 60 * 60_000;
const ROWS = 12;
const service = ofEachTest(() => openTestService({ actRows: ROWS }));
const context = () => contextOf(service.owner);
const running = new AbortController().signal;
let vaultId: string;

beforeEach(async () => {
  const made = await service.handlers.vaults.create({ body: { name: "V", type: "public" } }, context());
  vaultId = made.reply.body.vault.id;
});

/** A file of one byte that was replaced and renamed that often: a byte of each time before is kept. */
async function makeFile(name: string, times: number): Promise<string> {
  const input = { query: { name, vaultId }, headers: {}, body: bodyOf("0") };
  const { file } = answerOf(await service.handlers.files.upload(input, context()));
  const params = { fileId: file.id };
  for (let at = 1; at <= times; at += 1) {
    await service.handlers.files.replace({ params, query: {}, headers: {}, body: bodyOf(String(at % 10)) }, context());
    await service.handlers.files.update({ params, headers: {}, body: { name: `${name} ${at}` } }, context());
  }
  return file.id;
}

const deleteForGood = (fileId: string) =>
  service.handlers.files.delete({ params: { fileId }, query: { permanent: true }, headers: {} }, context());
const trash = (fileId: string) =>
  service.handlers.files.delete({ params: { fileId }, query: {}, headers: {} }, context());

const count = async (table: "file_versions" | "item_entries" | "ended_items" | "blob_deletions" | "files") =>
  Number(
    (
      await service.database.first(
        service.database.build.selectFrom(table).select((row) => row.fn.countAll<number | string>().as("count")),
      )
    )?.count,
  );

/** What the account holds, and what of it waits for its deletion. */
async function usage() {
  const { accountId } = service.owner;
  const { build } = service.database;
  const row = await service.database.first(
    build
      .selectFrom("accounts")
      .select(["usage_bytes", "usage_files", "usage_version_bytes"])
      .where("id", "=", accountId),
  );
  const { bytes, versionBytes } = await readVaultContents(service.database, vaultId);
  return { ...row, bytes, versionBytes, givenUp: await sumGivenUp(service.database, accountId) };
}

describe("a file of many versions and names", () => {
  test("counts as gone with its act, and is removed step by step, whatever else is purged meanwhile", async () => {
    const [large, small] = [await makeFile("large", 20), await makeFile("small", 1)];
    expect(await usage()).toMatchObject({ usage_bytes: 23, usage_version_bytes: 21, versionBytes: 21 });
    expect(await codeOf(deleteForGood(large))).toBe("ok");
    const after = { usage_bytes: 2, usage_files: 1, usage_version_bytes: 1, bytes: 2, versionBytes: 1, givenUp: 21 };
    expect(await usage()).toEqual(after);
    expect(await count("ended_items")).toBe(1);
    // The times of what is left are over before its turn comes.
    service.clock.advance(31 * DAY);
    await expireEntries(service, running);
    let steps = 0;
    for (; (await count("ended_items")) > 0; steps += 1) {
      await finishHistoryRemovals(service, oneStep());
      expect(await usage()).toEqual(after);
    }
    expect(steps).toBeGreaterThan(2);
    expect([await count("file_versions"), await count("blob_deletions")]).toEqual([1, 21]);
    await expireVersions(service, running);
    expect(await usage()).toMatchObject({ usage_bytes: 1, usage_version_bytes: 0 });
    const params = { fileId: small };
    expect(answerOf(await service.handlers.files.get({ params }, context())).file.id).toBe(small);
  });

  test("counts no version twice where their time ends meanwhile", async () => {
    const large = await makeFile("large", 20);
    service.clock.advance(31 * DAY);
    await deleteForGood(large);
    expect(await expireVersions(service, running)).toEqual({ expired: 0 });
    await finishHistoryRemovals(service, running);
    expect(await usage()).toMatchObject({ usage_bytes: 0, usage_version_bytes: 0, versionBytes: 0, givenUp: 21 });
    const jobs = jobsOf(service);
    service.clock.advance(120_000);
    expect(await deleteQueuedBlobs(jobs, running)).toMatchObject({ quarantined: 21 });
  });

  test("goes in the same way with the trash, emptied or by time", async () => {
    for (const purge of [
      () => service.handlers.trash.empty({ query: { vaultId }, headers: {} }, context()),
      async () => {
        service.clock.advance(31 * DAY);
        await purgeTrash(service, running);
      },
    ]) {
      for (let at = 0; at < 3; at += 1) await trash(await makeFile(`file ${at}`, 12));
      await purge();
      expect([await count("files"), await count("ended_items")]).toEqual([0, 3]);
      expect(await usage()).toMatchObject({ usage_bytes: 0, usage_files: 0, usage_version_bytes: 0, bytes: 0 });
      await finishHistoryRemovals(service, running);
      expect([await count("file_versions"), await count("item_entries"), await count("ended_items")]).toEqual([
        0, 0, 0,
      ]);
    }
  });

  test("is given up once, where its vault goes before it is through", async () => {
    await makeFile("other", 3);
    await deleteForGood(await makeFile("large", 20));
    const query = { force: true, permanent: true };
    await service.handlers.vaults.delete({ params: { vaultId }, query, headers: {} }, context());
    expect(await usage()).toMatchObject({ usage_bytes: 0, usage_files: 0, usage_version_bytes: 0, givenUp: 25 });
    await finishHistoryRemovals(service, running);
    await finishPurges(service, running);
    expect([await count("file_versions"), await count("item_entries"), await count("ended_items")]).toEqual([0, 0, 0]);
    expect(await usage()).toMatchObject({ usage_bytes: 0, givenUp: 25 });
  });

  test("leaves its id to no other file until it is through", async () => {
    const writing = await openWriting(service);
    const upload = newUpload(writing, "file");
    let file = await send(service, writing, upload);
    const { id } = file;
    for (let at = 2; at < 14; at += 1) file = await replace(service, writing, nextVersion(writing, file, at));
    const proof = await prove(service, writing.shared, "delete-file", { fileId: id });
    await deleteFileForGood(service, id, { proof, as: writing.by.principal });
    expect([await count("ended_items"), await codeOf(send(service, writing, upload))]).toEqual([
      1,
      "statement_invalid",
    ]);
    await finishHistoryRemovals(service, running);
    expect(await codeOf(send(service, writing, upload))).toBe("ok");
  });
});

test("no transaction of it writes more rows than a piece and what an act notes", async (context) => {
  if (ON_POSTGRES) context.skip("it counts the rows of SQLite's transactions");
  const fileId = await makeFile("large", 20);
  using held = watchWriter();
  await deleteForGood(fileId);
  await finishHistoryRemovals(service, running);
  expect(held.rows).toBeLessThanOrEqual(ROWS + 8);
});
