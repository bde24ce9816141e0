import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { measured, median, type Benchmark } from "./outcome.ts";
import { openScratch, startService, type Service } from "./service.ts";

export const SMALL = 1_000;
export const LARGE = 1_000_000;
/** Files with a past of their own. */
const OLD = 10_000;
/** Versions of each of those, and as many names. */
const PAST = 100;
export const REQUESTS = 300;
export const PAGE = 100;

/**
 * Median time of a page of 100 files in an account with a million, against one with a thousand. A third account has
 * files with a hundred versions and names each.
 */
export const listing: Benchmark = async () => {
  await using scratch = await openScratch();
  await using service = await startService(scratch.directory, 3);
  const began = performance.now();
  seed(service.databasePath, [SMALL, LARGE, OLD]);
  const seeding = (performance.now() - began) / 1000;
  const [small = "", large = "", old = ""] = service.keys;
  const walkSmall = createWalk(service, small);
  const walkLarge = createWalk(service, large);
  const walkOld = createWalk(service, old);
  for (let at = 0; at < 30; at += 1) await Promise.all([walkSmall(), walkLarge(), walkOld()]);
  const few: number[] = [];
  const many: number[] = [];
  const past: number[] = [];
  for (let at = 0; at < REQUESTS; at += 1) {
    few.push(await walkSmall());
    many.push(await walkLarge());
    past.push(await walkOld());
  }
  return measured({
    name: "listing",
    about: `median page of ${String(PAGE)} files at ${String(LARGE)} files over that at ${String(SMALL)}`,
    value: median(many) / median(few),
    unit: "times",
    limit: { at: "most", value: 1.5 },
    alsoHeld: {
      [`page of files with ${String(PAST)} versions and names each over that of files without`]: {
        value: median(past) / median(few),
        limit: { at: "most", value: 1.2 },
      },
    },
    series: {
      [`page at ${String(SMALL)} files, ms`]: few,
      [`page at ${String(LARGE)} files, ms`]: many,
      [`page of ${String(OLD)} files with a past, ms`]: past,
    },
    facts: {
      requests: `${String(REQUESTS)} pages each, one after the other by cursor, in turns`,
      seeded: `${seeding.toFixed(0)} s`,
    },
  });
};

/** Each call gets the next page, the first again after the last; answers its time in milliseconds. */
export function createWalk({ baseUrl }: Service, key: string): () => Promise<number> {
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

export const AUTHOR = JSON.stringify({
  ...{ kind: "api-key", id: "00000000-0000-4000-8000-000000000000", name: "an agent's key" },
  chainAddress: `0x${"0".repeat(64)}`,
});

/** Each file of the account had many contents and names, and has the last. */
function seedPast(database: DatabaseSync, accountId: SQLInputValue): void {
  const each = `with recursive counter(n) as (select 1 union all select n + 1 from counter where n < ${String(PAST)})`;
  const [values, from] = [
    "printf('%s-%d', files.id, n), ",
    "from files join counter where files.account_id = :accountId",
  ];
  database
    .prepare(
      `${each} insert into file_versions (vault_id, file_id, version_id, number, blob_key, size, charged, sha256,
        content_type, shared_json, how, author, author_key, created_at, replaced_at, expires_at)
      select vault_id, files.id, ${values} n, ${values} size, size, sha256, content_type, null, 'replace', :author, 'key',
        created_at, created_at, 4000000000000 ${from}`,
    )
    .run({ accountId, author: AUTHOR });
  database
    .prepare(
      `${each} insert into item_entries (vault_id, item_id, number, name, folder_id, shared_json, how, author, author_key,
        created_at, replaced_at, expires_at)
      select vault_id, files.id, n, ${values} null, null, 'rename', :author, 'key', created_at, created_at, 4000000000000 ${from}`,
    )
    .run({ accountId, author: AUTHOR });
  database
    .prepare(
      `update files set version_number = ${String(PAST + 1)}, entry_number = ${String(PAST + 1)}, entry_at = created_at,
        entry_how = 'rename', entry_author = :author where account_id = :accountId`,
    )
    .run({ accountId, author: AUTHOR });
}

/** Rows without content, in one statement per account, oldest account first: uploading a million files would take hours. */
function seed(path: string, counts: readonly number[]): void {
  const database = new DatabaseSync(path, { timeout: 60_000 });
  const accounts = database.prepare("select id, default_vault_id from accounts order by created_at, email").all();
  const insert = database.prepare(`
    with recursive counter(n) as (select 1 union all select n + 1 from counter where n < :count)
    insert into files (id, account_id, vault_id, folder_id, version_id, blob_key, name, size, content_type, sha256, encrypted, created_at, updated_at, trashed_at, trashed_with, version_number, version_author, created_by, updated_by)
    select printf('%08x-0000-4000-8%03x-%012x', n, :account, n), :accountId, :vaultId, null, printf('%08x-0000-4000-9%03x-%012x', n, :account, n),
      printf('bench-%d-%d', :account, n), printf('file %d', n), 1000, 'text/plain', :sha256, 0, 1700000000000 + n * 7, 1700000000000 + n * 7, null, null, 1, :author, :author, :author
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
      author: AUTHOR,
    });
  }
  seedPast(database, accounts[counts.length - 1]?.["id"] ?? null);
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
}
