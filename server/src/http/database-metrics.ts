/** Prometheus metrics of what the database knows: its connections, stored bytes, leases, how late webhooks are, what waits in quarantine. */
import { Gauge, type Registry } from "prom-client";
import type { Deps } from "../deps.ts";
import { sumStored } from "../features/account/store.ts";
import { findLastSweep, type QuarantineSum, sumQuarantine } from "../features/quarantine/store.ts";
import { listLanes } from "../features/webhooks/delivery/queue-store.ts";
import { isStopped } from "../features/pairing/store.ts";
import { openRunningTime } from "../jobs/running-time.ts";
import { countHeld } from "../ports/leases.ts";

type Needs = Pick<Deps, "database" | "clock">;

/** The sum over all accounts reads their whole table: once in so long for each process, however often it is scraped. Milliseconds. */
const SUMMED_EVERY = 5 * 60_000;

export function registerDatabase(registry: Registry, { database, clock }: Needs): void {
  const connections: Gauge<"state"> = new Gauge({
    name: "coffer_database_connections",
    help: "Connections to the database that are open and idle, and callers that wait for one",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      const { load } = database;
      for (const state of ["open", "idle", "waiting"] as const) connections.set({ state }, load[state]);
    },
  });
  gauge(registry, "coffer_leases_held", "Leases that processes hold, those of all together", () => countHeld(database));
  const unpaired = "1: no content is deleted until an operator adopts the store, as it may be another database's";
  gauge(registry, "coffer_deletions_stopped", unpaired, async () => ((await isStopped(database)) ? 1 : 0));
  gauge(
    registry,
    "coffer_jobs_wait_seconds",
    "How long servers have to run before jobs delete and expire again, because the clock is doubted; 0: they do",
    async () => (await openRunningTime(database).wait()) / 1000,
  );
  gauge(registry, "coffer_webhook_lag_seconds", "How long the delivery that is due longest waits", async () => {
    const due = (await listLanes(database, "")).map((lane) => lane.due ?? Infinity);
    return Math.max(0, clock.now() - Math.min(...due)) / 1000;
  });
  const stopped = "1 when the last sweep found so many contents without a row that it took nothing, else 0";
  gauge(registry, "coffer_sweep_stopped", stopped, async () => (await findLastSweep(database))?.stopped ?? 0);
  const orphans = "Contents without a row that the last sweep found";
  gauge(registry, "coffer_sweep_orphans", orphans, async () => (await findLastSweep(database))?.orphans ?? 0);
  registerQuarantine(registry, database, "contents", "Contents that lie in quarantine before they are deleted");
  registerQuarantine(registry, database, "bytes", "Bytes of the contents in quarantine");
  registerStored(registry, { database, clock });
}

function registerStored(registry: Registry, { database, clock }: Needs): void {
  let summed = { at: -Infinity, files: Number.NaN, versions: Number.NaN };
  const made: Gauge<"kind"> = new Gauge({
    name: "coffer_stored_bytes",
    help: "Bytes of files, the trash included, and of versions that are kept, as accounts are charged for them; at most five minutes old",
    labelNames: ["kind"],
    registers: [registry],
    async collect() {
      const now = clock.elapsed();
      // `coffer_storage_up` says that the database is away.
      if (now - summed.at >= SUMMED_EVERY)
        summed = await sumStored(database).then(
          (sum) => ({ ...sum, at: now }),
          () => summed,
        );
      for (const kind of ["files", "versions"] as const) made.set({ kind }, summed[kind]);
    },
  });
}

function registerQuarantine(
  registry: Registry,
  database: Needs["database"],
  of: Exclude<keyof QuarantineSum, "reason">,
  help: string,
): void {
  const made: Gauge<"reason"> = new Gauge({
    name: `coffer_quarantine_${of}`,
    help,
    labelNames: ["reason"],
    registers: [registry],
    async collect() {
      made.reset();
      // `coffer_storage_up` says that the database is away.
      for (const sum of await sumQuarantine(database).catch(() => [])) made.set({ reason: sum.reason }, sum[of]);
    },
  });
}

function gauge(registry: Registry, name: string, help: string, read: () => Promise<number>): void {
  const made: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      try {
        made.set(await read());
      } catch {
        // `coffer_storage_up` says that the database is away.
        made.set(Number.NaN);
      }
    },
  });
}
