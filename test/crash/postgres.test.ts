/**
 * Two server processes on one PostgreSQL, with a disk or a store that they share. Processes are killed, every connection is cut off or kept
 * waiting, and the engines end as in a crash, answer wrongly and come back, while accounts are written to.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createBucket, openCluster, startCeph } from "@coffer/devstack/engines";
import { expect, it } from "vitest";
import { openFaultProxy } from "../kit/ceph/fault-proxy.ts";
import { skipWithoutCeph } from "../kit/ceph/store.ts";
import { type Fleet, openFleet } from "./accounts/fleet.ts";
import { inspectAll, runSchedule } from "./accounts/schedules.ts";
import { openDisturbances } from "./disturbances.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const SECONDS = FULL ? 120 : 6;
/** Longer than the lease of a killed writer. */
const PATIENCE = 90_000;
/**
 * From an engine's return to a service that writes again. On an idle machine it takes less than 2 s [issue-20], which the printed figure
 * shows; a busy machine takes longer.
 */
const RECOVERY = 10_000;
const LONGEST = 1_700_000;
const COUNTS = FULL
  ? { kill: 30, restart: 10, cut: 10, exhaust: 5, store: 5, fault: 10 }
  : { kill: 3, restart: 1, cut: 1, exhaust: 1, store: 1, fault: 1 };
const TERMINATE =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'service'";

it(
  "two processes on PostgreSQL agree with a model of each account, whatever is killed, cut off or restarted [issue-20]",
  async () => {
    await using cluster = await openCluster();
    await cluster.run("CREATE DATABASE service");
    await using fleet = await openFleet(2, cluster.urlOf("service"));
    const done = { restarts: 0, cuts: 0 };
    const { findings, counts } = await runSchedule(fleet, {
      seed: 1,
      milliseconds: SECONDS * 1_000,
      accounts: 20,
      patience: PATIENCE,
      async disturb(draw) {
        const chosen = draw.int(4);
        if (chosen <= 1) return fleet.kill(draw);
        if (chosen === 2) {
          done.cuts += 1;
          return cluster.run(TERMINATE).catch(() => undefined);
        }
        done.restarts += 1;
        cluster.restart();
        await pause(1_500);
      },
    });
    expect([...findings, ...(await leftOf(fleet))].join("\n")).toBe("");
    // There was something to agree on.
    expect(fleet.kills + done.restarts + done.cuts).toBeGreaterThan(FULL ? 20 : 0);
    expect(counts.acknowledged).toBeGreaterThan(FULL ? 100 : 20);
    // A short schedule leaves it to chance.
    if (FULL) expect(counts.resumed).toBeGreaterThan(0);
  },
  LONGEST,
);

it(
  "so do two processes on PostgreSQL and an S3 store, whatever the store does, and they write again soon after its return [issue-20]",
  async (context) => {
    skipWithoutCeph(context);
    await using cluster = await openCluster();
    await cluster.run("CREATE DATABASE service");
    await using ceph = await startCeph();
    await createBucket(ceph, "service");
    await using proxy = await openFaultProxy(ceph.endpoint);
    await using fleet = await openFleet(2, cluster.urlOf("service"), {
      SERVICE_BLOBS_URL: `${proxy.endpoint}/service`,
      SERVICE_BLOBS_ACCESS_KEY_ID: ceph.accessKeyId,
      SERVICE_BLOBS_SECRET_ACCESS_KEY: ceph.secretAccessKey,
    });
    const disturbances = openDisturbances({ fleet, cluster, ceph, proxy, database: "service" }, COUNTS);
    const { findings, counts } = await runSchedule(fleet, {
      seed: 1,
      milliseconds: LONGEST,
      accounts: 8,
      patience: PATIENCE,
      disturb: (draw) => disturbances.next(draw),
    });
    const slowest = Math.round(Math.max(...disturbances.recoveries));
    console.log(JSON.stringify({ done: disturbances.done, requests: counts, slowestRecoveryMs: slowest }));
    expect([...findings, ...(await leftOf(fleet))].join("\n")).toBe("");
    expect(disturbances.done).toEqual(COUNTS);
    expect(slowest).toBeLessThanOrEqual(RECOVERY);
    expect(counts.unavailable).toBeGreaterThan(0);
    expect(counts.acknowledged).toBeGreaterThan(FULL ? 100 : 20);
    // A short schedule leaves it to chance.
    if (FULL) expect(counts.resumed).toBeGreaterThan(0);
  },
  LONGEST,
);

async function leftOf(fleet: Fleet): Promise<string[]> {
  return (await inspectAll(fleet)).filter((finding) => !isExpected(finding));
}

/** A request or a job that met an engine away is logged as a fault of the service, which it is. */
function isExpected(finding: string): boolean {
  const away = /The database (?:cannot be reached|is busy)|the commit is uncertain|The blob store/;
  return finding.startsWith("logged:") && away.test(finding);
}
