import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { indexFiles } from "@coffer/server/test-index-files";
import { openDatabase } from "@coffer/server/storage";
import { measured, median, type Benchmark } from "./outcome.ts";
import { openScratch, startService, type Service } from "./service.ts";

const SMALL = 10_000;
const LARGE = 1_000_000;
/** Files of every account that each query finds. */
const HITS = 20;
const ROUNDS = 150;

/** What is asked. Each finds the same files, which lie evenly among the others. */
const QUERIES: Readonly<Record<string, string>> = {
  word: "q=zebracrossing",
  "word among others": "q=report+zebracrossing",
  prefix: "q=zebracro",
  infix: "q=bracross",
  "two letters": "q=zq",
  type: "type=application/x-needle",
  "type and a common word": "type=application/&q=report",
  size: "q=zebra&minSize=5000",
};

/**
 * Median time of a search that finds 20 files among a million, against the same among 10,000 of another server. Beside the million is an
 * account of 10,000, which must not pay for them. The peer is a table of FTS5 with SQLite's own trigrams, in this process.
 */
export const search: Benchmark = async () => {
  await using scratch = await openScratch();
  await using other = await openScratch();
  await using alone = await startService(scratch.directory, 1);
  await using beside = await startService(other.directory, 2);
  const began = performance.now();
  await seed(alone.databasePath, [SMALL]);
  await seed(beside.databasePath, [LARGE, SMALL]);
  const seeding = (performance.now() - began) / 1000;
  using peers = openPeers();
  const ratios: Record<string, number> = {};
  const series: Record<string, number[]> = {};
  const besides: number[] = [];
  for (const [name, query] of Object.entries(QUERIES)) {
    const [few = [], many = [], next = []] = await askInTurns(query, [
      [alone, 0],
      [beside, 0],
      [beside, 1],
    ]);
    ratios[name] = median(many) / median(few);
    besides.push(median(next) / median(few));
    Object.assign(series, { [`${name} at ${String(SMALL)}, ms`]: few, [`${name} at ${String(LARGE)}, ms`]: many });
  }
  const peer = peers.ask();
  return measured({
    name: "search",
    about: `median search at ${String(LARGE)} files over that at ${String(SMALL)}, of the kind of query that grows most`,
    value: Math.max(...Object.values(ratios)),
    unit: "times",
    limit: { at: "most", value: 2 },
    alsoHeld: {
      "account of 10,000 beside a million over one alone, of the kind that grows most": {
        value: Math.max(...besides),
        limit: { at: "most", value: 1.5 },
      },
      "growth of an infix over that of FTS5's trigrams in this process": {
        value: (ratios["infix"] ?? Number.NaN) / (median(peer.large) / median(peer.small)),
        limit: { at: "most", value: 1 },
      },
    },
    series: {
      ...series,
      [`peer at ${String(SMALL)} files, ms`]: peer.small,
      [`peer at ${String(LARGE)} files, ms`]: peer.large,
    },
    facts: {
      requests: `${String(ROUNDS)} of each kind, in turns`,
      seeded: `${seeding.toFixed(0)} s, with the index of ${String(LARGE + 2 * SMALL)} names`,
      growth: Object.entries(ratios)
        .map(([name, ratio]) => `${name} ${ratio.toFixed(2)}`)
        .join(", "),
    },
  });
};

/** The times of each account, in milliseconds. */
async function askInTurns(query: string, accounts: readonly (readonly [Service, number])[]): Promise<number[][]> {
  const times = accounts.map((): number[] => []);
  for (let round = -20; round < ROUNDS; round += 1)
    for (const [at, [service, account]] of accounts.entries()) {
      const time = await ask(service, service.keys[account] ?? "", query);
      if (round >= 0) times[at]?.push(time);
    }
  return times;
}

async function ask({ baseUrl }: Service, key: string, query: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${baseUrl}/api/files/search?${query}`, { headers: { authorization: `Bearer ${key}` } });
  const page = (await answer.json()) as { files?: unknown[]; complete?: boolean };
  const elapsed = performance.now() - began;
  if (page.files?.length !== HITS || page.complete !== true)
    throw new Error(`${query}: ${String(page.files?.length)} files, complete ${String(page.complete)}`);
  return elapsed;
}

const SYLLABLES = ["ba", "re", "to", "mi", "nu", "ka", "si", "lo", "ve", "da", "po", "ri", "te", "ma", "ro", "li"];
const ENDINGS = ["pdf", "txt", "jpg", "md"];

/** Names of words that repeat: every eighth is a report, and every so often one is a needle. */
function nameOf(at: number, count: number): { name: string; isNeedle: boolean } {
  const isNeedle = at % (count / HITS) === 7;
  const word = (salt: number) => {
    const number = Math.imul(at + salt, 2_654_435_761) >>> 0;
    return [4, 8, 12, 16].map((shift) => SYLLABLES[(number >>> shift) & 15] ?? "").join("");
  };
  const more = isNeedle ? "report zqx zebracrossing" : at % 8 === 0 ? "report" : word(77);
  return { name: `${word(1)} ${more} ${String(at)}.${ENDINGS[at % 4] ?? ""}`, isNeedle };
}

/** Rows without content, and then their index: uploading a million files would take hours. */
async function seed(path: string, counts: readonly number[]): Promise<void> {
  {
    using database = new DatabaseSync(path, { timeout: 60_000 });
    const accounts = database.prepare("select id, default_vault_id from accounts order by created_at, email").all();
    const insert = database.prepare(`
      insert into files (id, account_id, vault_id, folder_id, version_id, blob_key, name, size, content_type, sha256, encrypted, created_at, updated_at)
      values (:id, :accountId, :vaultId, null, :id, :id, :name, :size, :type, '${"0".repeat(64)}', 0, :at, :at)`);
    database.exec("begin");
    for (const [account, count] of counts.entries())
      for (let at = 0; at < count; at += 1) {
        const { id: accountId = null, default_vault_id: vaultId = null } = accounts[account] ?? {};
        insertFile(insert, { account, at, count, accountId, vaultId });
      }
    database.exec("commit");
  }
  await using database = await openDatabase({ database: { kind: "sqlite", path } });
  await database.migration(indexFiles);
}

function insertFile(
  insert: StatementSync,
  { account, at, count, ...owner }: Record<"account" | "at" | "count", number> & Record<string, SQLInputValue>,
): void {
  const hex = at.toString(16).padStart(12, "0");
  const { name, isNeedle } = nameOf(at, count);
  const type = isNeedle ? "application/x-needle" : "text/plain";
  const id = `00000000-000${String(account)}-4000-8000-${hex}`;
  insert.run({ ...owner, id, name, type, size: isNeedle ? 9_000 : 1_000, at: 1_700_000_000_000 + at * 7 });
}

/** The same names in SQLite's own index of trigrams. */
function openPeers(): Disposable & { ask(): { small: number[]; large: number[] } } {
  const database = new DatabaseSync("");
  const asks = [SMALL, LARGE].map((count) => {
    const table = `names_${String(count)}`;
    database.exec(`create virtual table ${table} using fts5(name, tokenize='trigram'); begin`);
    const insert = database.prepare(`insert into ${table} (name) values (?)`);
    for (let at = 0; at < count; at += 1) insert.run(nameOf(at, count).name);
    database.exec(`commit; insert into ${table}(${table}) values('optimize')`);
    return database.prepare(`select name from ${table} where name match '"bracross"' order by rowid desc limit 100`);
  });
  const time = (statement: StatementSync | undefined): number => {
    const began = performance.now();
    if (statement?.all().length !== HITS) throw new Error("the peer finds other names");
    return performance.now() - began;
  };
  return {
    ask() {
      const rounds = Array.from({ length: ROUNDS }, () => [time(asks[0]), time(asks[1])] as const);
      return { small: rounds.map(([few]) => few), large: rounds.map(([, many]) => many) };
    },
    [Symbol.dispose]: () => {
      database.close();
    },
  };
}
