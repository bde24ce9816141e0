/** The whole interface on a database behind a real PgBouncer in transaction mode, with rates that are shared. Deep. */
import { expect, it } from "vitest";
import { makeAccessCode } from "../journeys/kit/identity.ts";
import { makeDirectory } from "../kit/directory.ts";
import { joinCluster, openPooler, skipWithout, whyNoPooler } from "../kit/engines.ts";
import { createDatabase } from "../kit/postgres/databases.ts";
import { startServerProcess } from "../crash/server-process.ts";
import { renderReport } from "./report.ts";
import { runConformance } from "./run.ts";

it("finds nothing through a pooler, and calls every endpoint", async (context) => {
  skipWithout(whyNoPooler(), context);
  await using pooler = await openPooler(await joinCluster());
  await using place = await createDatabase("migrated");
  const directory = makeDirectory();
  const environment = {
    SERVICE_DATABASE_URL: pooler.urlOf(place.name),
    SERVICE_DATABASE_DIRECT_URL: place.url,
    SERVICE_DATABASE_POOLER: "transaction",
    SERVICE_RATE_LIMITS: "shared",
  };
  await using server = await startServerProcess({ directory, environment });
  const variables = { SERVICE_ENV: "development", SERVICE_DATA_DIR: directory, ...environment };
  const report = await runConformance({
    baseUrl: server.baseUrl,
    accessCode: await makeAccessCode(variables, { uses: 5 }),
  });
  expect(report.findings, renderReport(report)).toEqual([]);
  expect(report.uncalled).toEqual([]);
});
