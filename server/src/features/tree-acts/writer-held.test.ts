/** How long one account's large acts hold the only writer of SQLite, and for how many rows. The full count is that of issue 47. */
import { expect, test } from "vitest";
import { answerOf, contextOf, openTestService } from "../test-service.ts";
import { openTestSqlite } from "../../test-storage.ts";
import { finishPurges } from "../vaults/purging.ts";
import { fillFolder, watchWriter } from "./test-large-account.ts";
import { finishTreeActs } from "./writing.ts";

const FILES = process.env["COFFER_TEST_COUNTS"] === "full" ? 355_000 : 2_500;
/** Rows of one piece, and what an act writes beside them: its change, the account, the answer to a repeated request. */
const MOST_ROWS = 500 + 10;

/** Prints what an act took, and throws where a transaction of it changed too many rows. */
const measure = async (name: string, act: () => Promise<unknown>) => {
  using held = watchWriter();
  const began = performance.now();
  await act();
  const all = performance.now() - began;
  console.log(`${name}: ${all.toFixed(0)} ms, longest hold ${held.milliseconds.toFixed(0)} ms, most rows ${held.rows}`);
  expect(held.rows).toBeLessThanOrEqual(MOST_ROWS);
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
      for (const query of [{}, { name: "file 7" }, { trashed: true }])
        await measure(`list ${JSON.stringify(query)}, marked`, () => handlers.files.list({ query }, caller));
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
