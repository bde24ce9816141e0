/**
 * No query of the service reads a large table of PostgreSQL from end to end, or sorts one for a page of it. The queries are those of a
 * conformance run, of the jobs and of a shared vault's life; the tables have thousands of rows each when the plans are made.
 */
import { Client, type QueryConfig } from "pg";
import { beforeAll, expect, it, vi } from "vitest";
import { makeAccessCode } from "../../../test/journeys/kit/identity.ts";
import { runConformance } from "../../../test/conformance/run.ts";
import { createDatabase } from "../../../test/kit/postgres/databases.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { parseConfig, startServer } from "../index.ts";
import { openTestService } from "../features/service.test-kit.ts";
import { openDatabase } from "../storage.ts";
import { liveOn } from "./life.test-kit.ts";

vi.hoisted(() => (process.env["COFFER_TEST_DATABASE"] = "postgres"));

/** Each query with the values of one call, by its text. */
const asked = new Map<string, Pick<QueryConfig, "name" | "values">>();

/** What reads a table from end to end, and may. */
const ALLOWED: readonly (readonly [text: RegExp, why: string])[] = [
  [/^select \* from "tree_acts"$/, "a job: acts on folders that are under way"],
  [/^select \* from "ended_items"$/, "a job: files and folders whose past is being deleted"],
  [/ from "vaults" where "purging_bytes" is not null$/, "a job: vaults that are being deleted"],
  [/ "leases"/, "as many rows as there are uploads and jobs under way"],
  [/ rates /, "once a minute: the callers of the last minute, without an index that each request would pay for"],
  [/ "mail_requests" where \("not_before"/, "mails that wait"],
  [/ "accounts" where "zklogin_salt" is not null limit/, "once, when a server starts; it ends at the first"],
  [/^select coalesce\(sum\(usage_bytes\), 0\)/, "metrics, every five minutes in each process: what all accounts store"],
  [/^update "webhooks" set "previous_secret"/, "once an hour, in one process"],
];

/** What sorts what it takes the first rows of, and may. */
const SORTED: readonly (readonly [text: RegExp, why: string])[] = [
  [/ from "vault_members" inner join "vaults"/, "the vaults that one address is a member of"],
  [
    / from "uploads" where .* order by "expires_at", "id"/,
    "read in the order of the first column; what is alike there is sorted",
  ],
  [
    / "webhook_deliveries" where "status" = 'delivering' and \("lease_until" \+/,
    "attempts under way whose leases are over",
  ],
  [/ from "files" where "trashed_at" <= /, "a job's step: what has been in the trash for long"],
  [/ from "file_versions" inner join "vaults" .* where "expires_at" <= /, "a job's step: versions whose time is over"],
  [/ from "vaults" where "trashed_at" <= /, "a job's step: vaults that have been in the trash for long"],
  [/ from "blob_deletions" where "not_before" <= /, "a job's step: contents that are to be deleted by now"],
  [/ from "blob_quarantine" where "ends" <= /, "a job's step: contents whose time in quarantine is over"],
  [/ as "alike" /, "at most a hundred ids begin alike"],
  [/ from file_terms where terms @@ /, "what a word is found in; an index of words has no order"],
];

beforeAll(async () => {
  // The service does not send the statements that make the schema.
  await (await createDatabase("migrated"))[Symbol.asyncDispose]();
  const asking = vi.spyOn(Client.prototype, "query");
  {
    await using service = await openTestService({ actRows: 2 });
    await liveOn(service);
  }
  await converse();
  for (const [given] of asking.mock.calls as unknown as [QueryConfig | string][])
    if (typeof given === "object" && /^\s*(select|insert|update|delete|with) /.test(given.text))
      asked.set(given.text, given);
  asking.mockRestore();
});

async function converse(): Promise<void> {
  await using place = await createDatabase("migrated");
  const places = { SERVICE_DATA_DIR: makeDirectory(), SERVICE_DATABASE_URL: place.url };
  const variables = { SERVICE_ENV: "development", SERVICE_LOG_LEVEL: "silent", ...places };
  const server = await startServer(parseConfig({ ...variables, SERVICE_PORT: "0", SERVICE_RATE_LIMITS: "shared" }));
  try {
    const accessCode = await makeAccessCode(variables, { uses: 5 });
    const report = await runConformance({ baseUrl: server.baseUrl, accessCode });
    expect([report.findings, report.uncalled]).toEqual([[], []]);
  } finally {
    await server.close();
  }
}

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly Filter?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
}

/** Tables that are read from end to end. A query that takes the first rows of a table as they come is not counted. */
function scansIn(plan: Plan): string[] {
  const isScan = plan["Node Type"] === "Seq Scan";
  const below = plan.Plans ?? [];
  const isCut =
    plan["Node Type"] === "Limit" && below.every((each) => each["Node Type"] === "Seq Scan" && !each.Filter);
  return [...(isScan ? [plan["Relation Name"] ?? ""] : []), ...(isCut ? [] : below.flatMap(scansIn))];
}

/** The plans of each query, with its values and, where it is prepared, without them. */
const planned = new Map<string, readonly Plan[]>();

beforeAll(async () => {
  await using place = await createDatabase("empty");
  const database = { kind: "postgres", url: place.url, directUrl: null, connections: 2, sessions: true } as const;
  await (await openDatabase({ database }))[Symbol.asyncDispose]();
  const client = new Client({ connectionString: place.url });
  await client.connect();
  try {
    await fillTables(client);
    // PostgreSQL explains a plan for any values from 16 on.
    const { rows } = await client.query<{ server_version_num: string }>("show server_version_num");
    const knowsGeneric = Number(rows[0]?.server_version_num) >= 160_000;
    for (const [text, { name, values = [] }] of asked) {
      const plans = await plansOf(client, "", text, values);
      if (name !== undefined && knowsGeneric) plans.push(...(await plansOf(client, "generic_plan, ", text, [])));
      planned.set(text, plans);
    }
  } finally {
    await client.end();
  }
});

/** What a test finds in the plans, with the query that it is in. */
function findInPlans(find: (plan: Plan, text: string) => readonly string[]): string[] {
  return [...planned].flatMap(([text, plans]) => {
    const found = plans.flatMap((plan) => find(plan, text));
    return found.length === 0 ? [] : [`${found.join(", ")}: ${text}`];
  });
}

it("each is answered off an index", () => {
  const scans = findInPlans((plan, text) => (ALLOWED.some(([allowed]) => allowed.test(text)) ? [] : scansIn(plan)));
  expect(planned.size).toBeGreaterThan(150);
  expect(scans).toEqual([]);
});

/** The rows that are sorted for a page of them: all that there are, where an index in their order would give the first ones. */
function sortsIn(plan: Plan): string[] {
  const below = plan.Plans ?? [];
  const isPage = plan["Node Type"] === "Limit" && below.some((each) => /Sort$/.test(each["Node Type"]));
  return [...(isPage ? [below[0]?.["Node Type"] ?? ""] : []), ...below.flatMap(sortsIn)];
}

it("a page is read off an index in its order: nothing is sorted for it", () => {
  const sorts = findInPlans((plan, text) => (SORTED.some(([sorted]) => sorted.test(text)) ? [] : sortsIn(plan)));
  expect([...planned.keys()].filter((text) => /order by .* limit /.test(text)).length).toBeGreaterThan(20);
  expect(sorts).toEqual([]);
});

/** What the rows of one name are filtered by beyond the index of names, and may. */
const FILTERED: readonly (readonly [filter: RegExp, why: string])[] = [
  [/^shared_json IS NOT NULL$/, "a public vault has the name as well"],
  [/^COALESCE\((folder_id|parent_id), ''::text\) = /, "several folders have the name"],
  [/^(NOT \()?(folder_id|parent_id) IS (NULL|DISTINCT FROM .*)$/, "several folders in the trash have the name"],
];

function filtersIn(plan: Plan): string[] {
  const isRow = plan["Relation Name"] === "files" || plan["Relation Name"] === "folders";
  const parts = isRow ? (plan.Filter ?? "").split(" AND ").map((part) => part.replace(/^\(+|\)+$/g, "")) : [];
  const isOfName = /\bname = /.test(plan["Index Cond"] ?? "");
  const found = parts.filter((part) => part !== "" && !(isOfName && FILTERED.some(([filter]) => filter.test(part))));
  return [...found, ...(plan.Plans ?? []).flatMap(filtersIn)];
}

it("a page of files or folders reads no others: each of its filters is one of the index", () => {
  const isList = (text: string) => / as "acts" left join /.test(text) && !/ as "alike" /.test(text);
  expect([...planned.keys()].filter(isList).length).toBeGreaterThan(20);
  expect(findInPlans((plan, text) => (isList(text) ? filtersIn(plan) : []))).toEqual([]);
});

type Explained = { readonly "QUERY PLAN": readonly [{ readonly Plan: Plan }] };

async function plansOf(client: Client, how: string, text: string, values: readonly unknown[]): Promise<Plan[]> {
  const explained = await client.query<Explained>(`explain (${how}format json) ${text}`, [...values]);
  return explained.rows.map((row) => row["QUERY PLAN"][0].Plan);
}

const ROWS = 10_000;
/** How many rows share a value, where it names something else. */
const SHARE = 100;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  /** The last of a primary key or a unique index. */
  readonly unique: boolean;
}

/** Many rows in every table, and statistics of them. Foreign keys do not hold: only the planner reads these rows. */
async function fillTables(client: Client): Promise<void> {
  const { rows } = await client.query<Column>(`
    select c.table_name as table, c.column_name as name, c.data_type as type, c.is_nullable = 'YES' as nullable,
      exists (
        select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[i.indnkeyatts - 1]
        where i.indisunique and i.indrelid = t.oid and a.attname = c.column_name
      ) as unique
    from information_schema.columns c join pg_class t on t.relname = c.table_name and t.relkind = 'r'
    where c.table_schema = 'public' and c.table_name <> 'migrations' and c.is_generated = 'NEVER'`);
  await client.query("set session_replication_role = replica");
  for (const [table, columns] of Map.groupBy(rows, (row) => row.table)) {
    const names = columns.map(({ name }) => `"${name}"`).join(", ");
    const values = columns.map(valueOf).join(", ");
    await client.query(
      `insert into "${table}" (${names}) select ${values} from generate_series(1, ${String(ROWS)}) as n`,
    );
  }
  await client.query("vacuum analyze");
  // As if there were a hundred times as many pages to read from end to end: a million rows.
  await client.query("set seq_page_cost = 100");
}

/** One in a hundred moments has come. */
const MOMENT = "cast(extract(epoch from now()) * 1000 as bigint) + (n % 10000 - 100) * 60000";

function valueOf({ name, type, nullable, unique }: Column): string {
  // One in ten lies at the top of its vault.
  if (nullable && (name === "folder_id" || name === "parent_id"))
    return `case when n % 10 > 0 then 'v' || n / ${String(SHARE)} end`;
  const number = unique ? "n" : `n / ${String(SHARE)}`;
  if (name === "full_at") return `(${MOMENT}) * 1000`;
  if (type === "bigint" && /_at$|^until$|^not_before$/.test(name))
    return nullable ? `case when n % 10 = 0 then ${MOMENT} end` : MOMENT;
  if (type === "bigint") return unique ? "n" : "n % 4096";
  if (type === "integer") return unique ? "n" : "n % 2";
  if (type === "text")
    return nullable && !name.endsWith("_id") ? `case when n % 10 = 0 then 'v' || ${number} end` : `'v' || ${number}`;
  if (type === "tsvector") return "to_tsvector('simple', 'v' || n % 4096)";
  throw new Error(`no values of ${type}`);
}
