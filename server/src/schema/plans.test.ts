/** No query of a shared vault's life reads a table of SQLite from end to end: what others store costs nobody anything. */
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openTestService, type TestService } from "../features/service.test-kit.ts";
import { openTestSqlite } from "../storage.test-kit.ts";
import { liveOn } from "./life.test-kit.ts";
import { type Filters, filtersOfContract } from "./lists.test-kit.ts";

let service: TestService;
/** The text of each query, once; what stands in its values is no matter to its plan. */
const asked = new Set<string>();
let filters: Filters;

beforeAll(async () => {
  service = await openTestService({ openDatabase: openTestSqlite, actRows: 2 });
  const preparing = vi.spyOn(DatabaseSync.prototype, "prepare");
  filters = await liveOn(service);
  for (const [text] of preparing.mock.calls) if (/^(select|insert|update|delete|with) /.test(text)) asked.add(text);
  preparing.mockRestore();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

/** Rows of the query's own making, and what the index of words finds. */
const OWN_ROWS = /^SCAN (tree|acts|alike|page LEFT-JOIN|\d+ CONSTANT ROWS?|entry VIRTUAL TABLE INDEX \d+:M.*)$/;

/** The job that looks at all accounts sums up what each keeps. */
const OF_ALL_ACCOUNTS = /sum\("size"\) as "bytes" from "file_versions"/;

/** Jobs that read all there are: acts, changes and deletions that are under way. */
const UNDER_WAY =
  /^select \* from "(tree_acts|ended_items)"$|from "vaults" where "(purging_bytes|pending_retention)" is not null$/;

it("every filter of every list of the contract is asked for", () => {
  expect(filters).toEqual(filtersOfContract());
});

it("each is answered off an index", async () => {
  const scans: string[] = [];
  for (const text of asked) {
    if (OF_ALL_ACCOUNTS.test(text) || UNDER_WAY.test(text)) continue;
    const found = (await planOf(text)).filter((line) => line.startsWith("SCAN") && !OWN_ROWS.test(line));
    if (found.length > 0) scans.push(`${text}: ${found.join(", ")}`);
  }
  expect(asked.size).toBeGreaterThan(80);
  expect(scans).toEqual([]);
});

/** What sorts what it takes the first rows of, and may: few ids begin alike, and an address is a member of few vaults. */
const SORTED = [/ as "alike" /, / from "vault_members" inner join "vaults"/];

it("a page is read off an index in its order: nothing is sorted for it", async () => {
  const sorts: string[] = [];
  for (const text of asked) {
    if (!/ order by .* limit /.test(text) || SORTED.some((sorted) => sorted.test(text))) continue;
    const found = (await planOf(text)).filter((line) => line.includes("FOR ORDER BY"));
    if (found.length > 0) sorts.push(`${text}: ${found.join(", ")}`);
  }
  expect(sorts).toEqual([]);
});

async function planOf(text: string): Promise<string[]> {
  const { build } = service.database;
  const explain = sql<{ detail: string }>`explain query plan ${sql.raw(text)}`;
  const rows = await service.database.all({ compile: () => explain.compile(build) });
  return rows.map((row) => row.detail);
}
