/** How long a vault keeps versions and entries, changed over many rows: whoever looks sees all of the change, whenever its writer is killed. */
import { expect, test } from "vitest";
import { expireEntries, expireVersions } from "../../jobs/expiry.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { ON_POSTGRES } from "../../storage.test-kit.ts";
import { answerOf, bodyOf, codeOf, contextOf, openTestService } from "../service.test-kit.ts";
import { watchWriter } from "../tree-acts/large-account.test-kit.ts";
import { oneStep } from "../tree-acts/steps.test-kit.ts";
import { finishPurges } from "./purging.ts";
import { finishRetentionChanges } from "./retention.ts";

const DAY = 24 * 60 * 60_000;
const ROWS = 6;
const service = ofEachTest(() => openTestService({ actRows: ROWS }));
const context = () => contextOf(service.owner);
const running = new AbortController().signal;

/** A file that was replaced and renamed once a day for twenty days. */
async function makeVault() {
  const { vault } = answerOf(await service.handlers.vaults.create({ body: { name: "V", type: "public" } }, context()));
  const input = { query: { name: "file 0", vaultId: vault.id }, headers: {}, body: bodyOf("0") };
  const { file } = answerOf(await service.handlers.files.upload(input, context()));
  const params = { fileId: file.id };
  for (let day = 1; day <= 20; day += 1) {
    service.clock.advance(DAY);
    await service.handlers.files.replace({ params, query: {}, headers: {}, body: bodyOf(`${day}`) }, context());
    await service.handlers.files.update({ params, headers: {}, body: { name: `file ${day}` } }, context());
  }
  return { vaultId: vault.id, fileId: file.id };
}

type Made = Awaited<ReturnType<typeof makeVault>>;

const keep = ({ vaultId }: Made, keepVersionsDays: number | null) =>
  service.handlers.vaults.update({ params: { vaultId }, headers: {}, body: { keepVersionsDays } }, context());

/** All that its owner can learn of the past of the file. */
async function seen({ fileId }: Made) {
  const params = { fileId };
  const query = { limit: 1000 };
  const { versions } = answerOf(await service.handlers.files.versions({ params, query }, context()));
  const { entries } = answerOf(await service.handlers.files.entries({ params, query }, context()));
  return {
    versions: versions.map(({ number, expiresAt }) => [number, expiresAt]),
    entries: entries.map(({ number, expiresAt }) => [number, expiresAt]),
  };
}

const expire = async () => [await expireVersions(service, running), await expireEntries(service, running)];

const pending = async () =>
  (await service.database.all(service.database.build.selectFrom("vaults").select("pending_retention"))).filter(
    (row) => row.pending_retention !== null,
  ).length;

const rowsOf = (table: "file_versions" | "item_entries") =>
  service.database.all(service.database.build.selectFrom(table).select(["number", "replaced_at", "expires_at"]));

/** Makes the steps one by one, as processes that are killed after each would, with the purge of what has ended between them. */
async function expectNothingBetween(made: Made): Promise<number> {
  const after = await seen(made);
  let steps = 0;
  for (; (await pending()) > 0; steps += 1) {
    await finishRetentionChanges(service, oneStep());
    await expire();
    expect(await seen(made)).toEqual(after);
  }
  return steps;
}

test("a longer time keeps all from its first moment, also what the time before would have ended meanwhile", async () => {
  const made = await makeVault();
  expect((await seen(made)).versions).toHaveLength(21);
  await keep(made, 365);
  // The rows say 30 days until a step has written them.
  service.clock.advance(60 * DAY);
  expect((await rowsOf("file_versions")).some((row) => row.expires_at <= service.clock.now())).toBe(true);
  expect(await expire()).toEqual([{ expired: 0 }, { expired: 0 }]);
  expect((await seen(made)).versions).toHaveLength(21);
  expect(await expectNothingBetween(made)).toBeGreaterThan(4);
  for (const table of ["file_versions", "item_entries"] as const) {
    const rows = await rowsOf(table);
    expect([rows.length, new Set(rows.map((row) => row.expires_at - row.replaced_at))]).toEqual([
      20,
      new Set([365 * DAY]),
    ]);
  }
});

test("a shorter time ends what is older at once: nobody lists, reads or restores it, and it goes as the rows follow", async () => {
  const made = await makeVault();
  const { versions } = answerOf(
    await service.handlers.files.versions({ params: { fileId: made.fileId }, query: { limit: 1000 } }, context()),
  );
  const oldest = versions.at(-1)?.versionId ?? "";
  await keep(made, 5);
  expect((await seen(made)).versions.map(([number]) => number)).toEqual([21, 20, 19, 18, 17, 16]);
  expect((await seen(made)).entries.map(([number]) => number)).toEqual([21, 20, 19, 18, 17, 16]);
  const params = { fileId: made.fileId, sourceId: oldest };
  const restored = service.handlers.files.restoreVersion({ headers: {}, params, body: undefined }, context());
  expect(await codeOf(restored)).toBe("not_found");
  expect(await expectNothingBetween(made)).toBeGreaterThan(2);
  await expire();
  expect([(await rowsOf("file_versions")).length, (await rowsOf("item_entries")).length]).toEqual([5, 5]);
});

test("the latest of several changes is the one that holds, and what is replaced meanwhile follows it", async () => {
  const made = await makeVault();
  await keep(made, 5);
  await finishRetentionChanges(service, oneStep());
  await keep(made, null);
  service.clock.advance(DAY);
  const input = { params: { fileId: made.fileId }, query: {}, headers: {}, body: bodyOf("new") };
  await service.handlers.files.replace(input, context());
  const before = await seen(made);
  expect(before.versions).toHaveLength(22);
  await finishRetentionChanges(service, running);
  expect([await seen(made), await pending()]).toEqual([before, 0]);
  expect(new Set((await rowsOf("file_versions")).map((row) => row.expires_at - row.replaced_at))).toEqual(
    new Set([30 * DAY]),
  );
});

test("a vault that is deleted for good meanwhile goes with all of it", async () => {
  const made = await makeVault();
  await keep(made, 365);
  const query = { force: true, permanent: true };
  await service.handlers.vaults.delete({ params: { vaultId: made.vaultId }, query, headers: {} }, context());
  await finishRetentionChanges(service, running);
  await finishPurges(service, running);
  expect([await rowsOf("file_versions"), await rowsOf("item_entries"), await pending()]).toEqual([[], [], 0]);
});

test("no transaction of it writes more rows than a piece and what an act notes", async (context) => {
  if (ON_POSTGRES) context.skip("it counts the rows of SQLite's transactions");
  const made = await makeVault();
  using held = watchWriter();
  await keep(made, 365);
  await finishRetentionChanges(service, running);
  expect(held.rows).toBeLessThanOrEqual(ROWS + 8);
});
