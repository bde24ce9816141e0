import { DatabaseSync } from "node:sqlite";
import { measured, median, type Benchmark } from "./outcome.ts";
import { openScratch, startService, type Service } from "./service.ts";

const SMALL = 1_000;
const LARGE = 1_000_000;
const REQUESTS = 300;
const PAGE = 100;

/** Median time of a page of 100 files in an account with a million, against one with a thousand. */
export const listing: Benchmark = async () => {
  await using scratch = await openScratch();
  await using service = await startService(scratch.directory, 2);
  const began = performance.now();
  seed(service.databasePath, [SMALL, LARGE]);
  const seeding = (performance.now() - began) / 1000;
  const [small = "", large = ""] = service.keys;
  const walkSmall = createWalk(service, small);
  const walkLarge = createWalk(service, large);
  for (let at = 0; at < 30; at += 1) await Promise.all([walkSmall(), walkLarge()]);
  const few: number[] = [];
  const many: number[] = [];
  for (let at = 0; at < REQUESTS; at += 1) {
    few.push(await walkSmall());
    many.push(await walkLarge());
  }
  return measured({
    name: "listing",
    about: `median page of ${String(PAGE)} files at ${String(LARGE)} files over that at ${String(SMALL)}`,
    value: median(many) / median(few),
    unit: "times",
    limit: { at: "most", value: 1.5 },
    series: { [`page at ${String(SMALL)} files, ms`]: few, [`page at ${String(LARGE)} files, ms`]: many },
    facts: {
      requests: `${String(REQUESTS)} pages each, one after the other by cursor, in turns`,
      seeded: `${seeding.toFixed(0)} s`,
    },
  });
};

/** Each call gets the next page, the first again after the last; answers its time in milliseconds. */
function createWalk({ baseUrl }: Service, key: string): () => Promise<number> {
  let cursor: string | null = null;
  return async () => {
    const url = new URL(`/api/files?limit=${String(PAGE)}`, baseUrl);
    if (cursor !== null) url.searchParams.set("cursor", cursor);
    const began = performance.now();
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    const page = (await answer.json()) as { files: unknown[]; nextCursor: string | null };
    const elapsed = performance.now() - began;
    if (page.files.length !== PAGE)
      throw new Error(`a page of ${String(page.files.length)} files (${String(answer.status)})`);
    cursor = page.nextCursor;
    return elapsed;
  };
}

/** Rows without content, in one statement per account, oldest account first: uploading a million files would take hours. */
function seed(path: string, counts: readonly number[]): void {
  const database = new DatabaseSync(path, { timeout: 60_000 });
  const accounts = database.prepare("select id, default_vault_id from accounts order by created_at, email").all();
  const insert = database.prepare(`
    with recursive counter(n) as (select 1 union all select n + 1 from counter where n < :count)
    insert into files (id, account_id, vault_id, folder_id, version_id, blob_key, name, size, content_type, sha256, encrypted, created_at, updated_at, trashed_at, trashed_with)
    select printf('%08x-0000-4000-8%03x-%012x', n, :account, n), :accountId, :vaultId, null, printf('%08x-0000-4000-9%03x-%012x', n, :account, n),
      printf('bench-%d-%d', :account, n), printf('file %d', n), 1000, 'text/plain', :sha256, 0, 1700000000000 + n * 7, 1700000000000 + n * 7, null, null
    from counter`);
  for (const [at, count] of counts.entries()) {
    const account = accounts[at];
    if (account === undefined) throw new Error("an account is missing");
    insert.run({
      count,
      account: at,
      accountId: account["id"] ?? null,
      vaultId: account["default_vault_id"] ?? null,
      sha256: "0".repeat(64),
    });
  }
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
}
