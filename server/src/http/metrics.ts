/** Prometheus metrics of one app. Labels are endpoint ids and status classes: never anything a caller can make up. */
import { endpointsOf, type Api } from "@coffer/contract";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { Deps } from "../deps.ts";
import { registerDatabase } from "./database-metrics.ts";
import type { Call } from "./call.ts";
import type { Transfers } from "./transfers.ts";

const UNMATCHED = "unmatched";
const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;
/** Upper bounds in seconds. */
const BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600] as const;

/** Plain numbers: counting through the library was measured at ten times as much, and is needed at each scrape only. */
interface Tally {
  readonly byClass: number[];
  readonly byBucket: number[];
  seconds: number;
}

export interface Metrics {
  observe(call: Call, status: number, milliseconds: number): void;
  /** The text format, with its media type. */
  render(): Promise<{ text: string; contentType: string }>;
}

export function createMetrics(
  api: Api,
  transfers: Transfers,
  storage: Pick<Deps, "database" | "blobs" | "clock">,
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "coffer_" });
  const tallies = new Map<string, Tally>();
  for (const id of [...endpointsOf(api).map((endpoint) => endpoint.id), UNMATCHED]) tallies.set(id, emptyTally());
  const bytes = { in: 0, out: 0 };
  registerRequests(registry, tallies);
  registerDurations(registry, tallies);
  registerBytes(registry, bytes);
  registerTransfers(registry, transfers);
  registerStorage(registry, storage);
  registerDatabase(registry, storage);
  registerBlobRequests(registry, storage);
  return {
    observe(call, status, milliseconds) {
      const tally = tallies.get(call.endpointId ?? UNMATCHED);
      if (tally !== undefined) count(tally, status, milliseconds / 1000);
      bytes.in += call.bytesIn;
      bytes.out += call.bytesOut;
    },
    async render() {
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

function emptyTally(): Tally {
  return { byClass: CLASSES.map(() => 0), byBucket: [...BUCKETS.map(() => 0), 0], seconds: 0 };
}

function count(tally: Tally, status: number, seconds: number): void {
  const statusClass = Math.floor(status / 100) - 1;
  tally.byClass[statusClass] = (tally.byClass[statusClass] ?? 0) + 1;
  let bucket = 0;
  while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] ?? Infinity)) bucket += 1;
  tally.byBucket[bucket] = (tally.byBucket[bucket] ?? 0) + 1;
  tally.seconds += seconds;
}

function registerRequests(registry: Registry, tallies: ReadonlyMap<string, Tally>): void {
  const counter: Counter<"endpoint" | "status"> = new Counter({
    name: "coffer_http_requests_total",
    help: "Requests answered, by endpoint and status class",
    labelNames: ["endpoint", "status"],
    registers: [registry],
    collect() {
      counter.reset();
      for (const [endpoint, { byClass }] of tallies) {
        for (const [index, status] of CLASSES.entries()) counter.inc({ endpoint, status }, byClass[index]);
      }
    },
  });
}

/** A histogram by hand: the library's takes one observation at a time and cannot be filled from sums. */
function registerDurations(registry: Registry, tallies: ReadonlyMap<string, Tally>): void {
  const name = "coffer_http_request_duration_seconds";
  const buckets: Gauge<"endpoint" | "le"> = new Gauge({
    name: `${name}_bucket`,
    help: "From the request's headers to the end of the answer, cumulative",
    labelNames: ["endpoint", "le"],
    registers: [registry],
    collect() {
      for (const [endpoint, { byBucket }] of tallies) {
        let sum = 0;
        for (const [index, le] of [...BUCKETS, "+Inf"].entries()) {
          sum += byBucket[index] ?? 0;
          buckets.set({ endpoint, le }, sum);
        }
      }
    },
  });
  const seconds: Counter<"endpoint"> = new Counter({
    name: `${name}_sum`,
    help: "Seconds spent on requests",
    labelNames: ["endpoint"],
    registers: [registry],
    collect() {
      seconds.reset();
      for (const [endpoint, tally] of tallies) seconds.inc({ endpoint }, tally.seconds);
    },
  });
  const requests: Counter<"endpoint"> = new Counter({
    name: `${name}_count`,
    help: "Requests measured",
    labelNames: ["endpoint"],
    registers: [registry],
    collect() {
      requests.reset();
      for (const [endpoint, { byBucket }] of tallies) {
        requests.inc(
          { endpoint },
          byBucket.reduce((sum, count) => sum + count, 0),
        );
      }
    },
  });
}

function registerBytes(registry: Registry, bytes: { readonly in: number; readonly out: number }): void {
  const counter: Counter<"direction"> = new Counter({
    name: "coffer_http_body_bytes_total",
    help: "Bytes of bodies",
    labelNames: ["direction"],
    registers: [registry],
    collect() {
      counter.reset();
      counter.inc({ direction: "in" }, bytes.in);
      counter.inc({ direction: "out" }, bytes.out);
    },
  });
}

function registerTransfers(registry: Registry, transfers: Transfers): void {
  const gauge: Gauge = new Gauge({
    name: "coffer_active_transfers",
    help: "Byte bodies on their way in or out",
    registers: [registry],
    collect: () => gauge.set(transfers.size),
  });
}

/** Only a store that is elsewhere counts what it was asked. */
function registerBlobRequests(registry: Registry, { blobs }: Pick<Deps, "blobs">): void {
  if (blobs.tallies === undefined) return;
  const requests: Counter<"operation" | "outcome"> = new Counter({
    name: "coffer_blob_store_requests_total",
    help: "Requests to the blob store, each try: done, refused for good, or failed; address: addresses given to clients instead",
    labelNames: ["operation", "outcome"],
    registers: [registry],
    collect() {
      requests.reset();
      for (const { operation, ...tally } of blobs.tallies?.() ?? [])
        for (const outcome of ["done", "refused", "failed"] as const)
          requests.inc({ operation, outcome }, tally[outcome]);
    },
  });
  const seconds: Counter<"operation"> = new Counter({
    name: "coffer_blob_store_request_seconds_total",
    help: "Seconds until the blob store answered",
    labelNames: ["operation"],
    registers: [registry],
    collect() {
      seconds.reset();
      for (const tally of blobs.tallies?.() ?? []) seconds.inc({ operation: tally.operation }, tally.seconds);
    },
  });
}

/** Asked at each scrape: 1 when the part answers, else 0. */
function registerStorage(registry: Registry, { database, blobs }: Pick<Deps, "database" | "blobs">): void {
  const gauge: Gauge<"part"> = new Gauge({
    name: "coffer_storage_up",
    help: "Whether the database and the blob store answer",
    labelNames: ["part"],
    registers: [registry],
    async collect() {
      for (const [part, target] of Object.entries({ database, blobs })) gauge.set({ part }, await answers(target));
    },
  });
}

async function answers(target: { ping(): Promise<void> }): Promise<0 | 1> {
  try {
    await target.ping();
    return 1;
  } catch {
    // Why it does not answer is in the log of the requests that fail.
    return 0;
  }
}
