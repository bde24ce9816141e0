/** How long one account's large acts hold the only writer of SQLite: set COFFER_MEASURED_FILES (355000) to measure. */
import { test } from "vitest";
import { answerOf, contextOf, openTestService } from "../test-service.ts";
import { openTestSqlite } from "../../test-storage.ts";
import { finishPurges } from "../vaults/purging.ts";
import { fillFolder, watchWriter } from "./test-large-account.ts";
import { finishTreeActs } from "./writing.ts";

const FILES = Number(process.env["COFFER_MEASURED_FILES"] ?? "0");

const measure = async (name: string, act: () => Promise<unknown>) => {
  using held = watchWriter();
  const began = performance.now();
  await act();
  const all = performance.now() - began;
  console.log(`${name}: ${all.toFixed(0)} ms, longest hold ${held.milliseconds.toFixed(0)} ms, most rows ${held.rows}`);
};

test("measure", { timeout: 1_200_000 }, async (context) => {
  if (FILES === 0) context.skip("COFFER_MEASURED_FILES is not set");
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
});

test("measure a vault", { timeout: 1_200_000 }, async (context) => {
  if (FILES === 0) context.skip("COFFER_MEASURED_FILES is not set");
  await using service = await openTestService({ openDatabase: openTestSqlite });
  const caller = contextOf(service.owner);
  const { vault } = answerOf(await service.handlers.vaults.create({ body: { name: "v", type: "public" } }, caller));
  await fillFolder(service.database, service.owner, { files: FILES, perFolder: 100, vaultId: vault.id });
  const params = { vaultId: vault.id };
  const query = { force: true, permanent: true };
  await measure("purge a vault", () => service.handlers.vaults.delete({ params, query, headers: {} }, caller));
  await measure("purge, pieces", () => finishPurges(service, new AbortController().signal));
});
