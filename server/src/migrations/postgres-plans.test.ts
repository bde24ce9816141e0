/**
 * No query of the service reads a large table of PostgreSQL from end to end. The queries are those of a conformance run, of the jobs and
 * of a shared vault's life; the tables have thousands of rows each when the plans are made.
 */
import { Client, type QueryConfig } from "pg";
import { beforeAll, expect, it, vi } from "vitest";
import { makeAccessCode } from "../../../test/acceptance/kit/identity.ts";
import { runConformance } from "../../../test/conformance/run.ts";
import { createDatabase } from "../../../test/kit/postgres/databases.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { parseConfig, startServer } from "../index.ts";
import { openTestService } from "../features/test-service.ts";
import { openDatabase } from "../storage.ts";
import { fillTables } from "./test-many-rows.ts";
import { liveOn } from "./test-life.ts";

vi.hoisted(() => (process.env["COFFER_TEST_DATABASE"] = "postgres"));

/** Each query with the values of one call, by its text. */
const asked = new Map<string, Pick<QueryConfig, "name" | "values">>();

/** What reads a table from end to end, and may. */
const ALLOWED: readonly (readonly [text: RegExp, why: string])[] = [
  [/ "leases"/, "as many rows as there are uploads and jobs under way"],
  [/ rates /, "once a minute: the callers of the last minute, without an index that each request would pay for"],
  [/ "mail_requests" where \("not_before"/, "mails that wait"],
  [/ "accounts" where "zklogin_salt" is not null limit/, "once, when a server starts; it ends at the first"],
  [/^update "webhooks" set "previous_secret"/, "once an hour, in one process"],
];

beforeAll(async () => {
  // The statements that make the schema are none of the service's.
  await (await createDatabase("migrated"))[Symbol.asyncDispose]();
  const asking = vi.spyOn(Client.prototype, "query");
  {
    await using service = await openTestService();
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
  readonly Plans?: readonly Plan[];
}

/** Tables that are read from end to end. The first rows of one that come unasked are none. */
function scansIn(plan: Plan): string[] {
  const isScan = plan["Node Type"] === "Seq Scan";
  const below = plan.Plans ?? [];
  const isCut =
    plan["Node Type"] === "Limit" && below.every((each) => each["Node Type"] === "Seq Scan" && !each.Filter);
  return [...(isScan ? [plan["Relation Name"] ?? ""] : []), ...(isCut ? [] : below.flatMap(scansIn))];
}

it("each is answered off an index, with its values and, where it is prepared, without them", async () => {
  await using place = await createDatabase("empty");
  const database = { kind: "postgres", url: place.url, directUrl: null, connections: 2, sessions: true } as const;
  await (await openDatabase({ database }))[Symbol.asyncDispose]();
  const client = new Client({ connectionString: place.url });
  await client.connect();
  const scans: string[] = [];
  try {
    await fillTables(client);
    for (const [text, { name, values = [] }] of asked) {
      if (ALLOWED.some(([allowed]) => allowed.test(text))) continue;
      const plans = [await plansOf(client, "", text, values)];
      if (name !== undefined) plans.push(await plansOf(client, "generic_plan, ", text, []));
      const scanned = plans.flat().flatMap(scansIn);
      if (scanned.length > 0) scans.push(`${scanned.join(", ")}: ${text}`);
    }
  } finally {
    await client.end();
  }
  expect(asked.size).toBeGreaterThan(150);
  expect(scans).toEqual([]);
});

type Explained = { readonly "QUERY PLAN": readonly [{ readonly Plan: Plan }] };

async function plansOf(client: Client, how: string, text: string, values: readonly unknown[]): Promise<Plan[]> {
  const explained = await client.query<Explained>(`explain (${how}format json) ${text}`, [...values]);
  return explained.rows.map((row) => row["QUERY PLAN"][0].Plan);
}
