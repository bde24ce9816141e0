/** Prometheus metrics of the database: its connections, what processes hold, and how late webhooks are. Asked at each scrape. */
import { Gauge, type Registry } from "prom-client";
import type { Deps } from "../deps.ts";
import { listLanes } from "../features/webhooks/delivery/queue-store.ts";
import { openRunningTime } from "../jobs/running-time.ts";
import { countHeld } from "../ports/leases.ts";

type Needs = Pick<Deps, "database" | "clock">;

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
}

function gauge(registry: Registry, name: string, help: string, read: () => Promise<number>): void {
  const made: Gauge = new Gauge({
    ...{ name, help, registers: [registry] },
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
