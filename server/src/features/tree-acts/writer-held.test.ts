/** How long one account's large acts hold the only writer of SQLite, and for how many rows. The full count is that of issue 47. */
import { expect, test } from "vitest";
import { answerOf, contextOf, openTestService, storeFile, type TestService } from "../service.test-kit.ts";
import { openTestSqlite } from "../../storage.test-kit.ts";
import { finishHistoryRemovals } from "../files/history-removal.ts";
import { finishPurges } from "../vaults/purging.ts";
import { finishRetentionChanges } from "../vaults/retention.ts";
import { fillFolder, fillPast, watchWriter } from "./large-account.test-kit.ts";
import { finishTreeActs } from "./writing.ts";

const FILES = process.env["COFFER_TEST_COUNTS"] === "full" ? 355_000 : 2_500;
/** Rows of one piece, and what an act writes beside them: its change, the account, the answer to a repeated request. */
const MOST_ROWS = 500 + 10;

/** Prints what an act took, and throws where a transaction of it changed too many rows. */
const measure = async (name: string, act: () => Promise<unknown>, more = 0) => {
  using held = watchWriter();
  const began = performance.now();
  await act();
  const all = performance.now() - began;
  console.log(`${name}: ${all.toFixed(0)} ms, longest hold ${held.milliseconds.toFixed(0)} ms, most rows ${held.rows}`);
  expect(held.rows).toBeLessThanOrEqual(MOST_ROWS + more);
};

test(
  "no transaction changes more than about 500 rows while a large folder goes to the trash and comes back",
  { timeout: 1_200_000 },
  async () => {
    await using service = await openTestService({ openDatabase: openTestSqlite });
    const { folderId, vaultId, folders } = await fillFolder(service.database, service.owner, {
      files: FILES,
      perFolder: 100,
    });
    const caller = contextOf(service.owner);
    console.log(`${FILES} files in ${folders} folders`);
    const { handlers } = service;
    const params = { folderId };
    for (const query of [
      { name: "file 7" },
      { name: "no such" },
      { trashed: true, name: "file 7" },
      {},
      { vaultId, name: "file 7" },
    ])
      await measure(`list ${JSON.stringify(query)}`, () => handlers.files.list({ query }, caller));
    const running = new AbortController().signal;
    const acts = {
      trash: () => handlers.folders.delete({ headers: {}, params }, caller),
      restore: () => handlers.folders.restore({ headers: {}, params, body: undefined }, caller),
    };
    for (const name of ["trash", "restore"] as const) {
      await measure(name, acts[name]);
      for (const query of [{}, { name: "file 7" }, { trashed: true }]) {
        const isFound = "trashed" in query === (name === "trash");
        await measure(`list ${JSON.stringify(query)}, marked`, async () => {
          const { files, nextCursor } = answerOf(await handlers.files.list({ query }, caller));
          expect([files.length > 0, nextCursor !== null]).toEqual([isFound, isFound && !("name" in query)]);
        });
      }
      await measure(`${name}, pieces`, () => finishTreeActs(service, running));
    }
  },
);

test("nor while a large vault is deleted for good", { timeout: 1_200_000 }, async () => {
  await using service = await openTestService({ openDatabase: openTestSqlite });
  const caller = contextOf(service.owner);
  const { vault } = answerOf(await service.handlers.vaults.create({ body: { name: "v", type: "public" } }, caller));
  await fillFolder(service.database, service.owner, { files: FILES, perFolder: 100, vaultId: vault.id });
  const params = { vaultId: vault.id };
  const query = { force: true, permanent: true };
  await measure("purge a vault", () => service.handlers.vaults.delete({ params, query, headers: {} }, caller));
  await measure("purge, pieces", () => finishPurges(service, new AbortController().signal));
});

/** A vault of a file that was replaced and renamed very often. */
async function openPast(service: TestService) {
  const caller = contextOf(service.owner);
  const { vault } = answerOf(await service.handlers.vaults.create({ body: { name: "v", type: "public" } }, caller));
  const { id: fileId } = await storeFile(service, "file", { vaultId: vault.id });
  await fillPast(service.database, { vaultId: vault.id, fileIds: [fileId], each: FILES });
  return { caller, vaultId: vault.id, fileId };
}

test("nor while a vault keeps its versions for another time", { timeout: 1_200_000 }, async () => {
  await using service = await openTestService({ openDatabase: openTestSqlite });
  const { caller, vaultId } = await openPast(service);
  for (const keepVersionsDays of [365, 1]) {
    const input = { params: { vaultId }, headers: {}, body: { keepVersionsDays } };
    await measure(`keep for ${keepVersionsDays} days`, () => service.handlers.vaults.update(input, caller));
    await measure("keep, pieces", () => finishRetentionChanges(service, new AbortController().signal));
  }
});

test("nor while a file of many versions is deleted for good", { timeout: 1_200_000 }, async () => {
  await using service = await openTestService({ openDatabase: openTestSqlite });
  const { caller, fileId } = await openPast(service);
  const input = { params: { fileId }, query: { permanent: true }, headers: {} };
  await measure("delete a file for good", () => service.handlers.files.delete(input, caller));
  await measure("delete, pieces", () => finishHistoryRemovals(service, new AbortController().signal));
});

test("nor while many folders go to the trash in one request", { timeout: 1_200_000 }, async () => {
  await using service = await openTestService({ openDatabase: openTestSqlite });
  const ids: string[] = [];
  for (let at = 0; at < 30; at += 1) {
    const folder = { files: 100, perFolder: 50, name: `folder ${at}` };
    ids.push((await fillFolder(service.database, service.owner, folder)).folderId);
  }
  const caller = contextOf(service.owner);
  // Each of the folders that are marked has a row, a change and a mark.
  const marks = 3 * ids.length;
  await measure("trash many", () => service.handlers.files.trashMany({ body: { ids } }, caller), marks);
});
