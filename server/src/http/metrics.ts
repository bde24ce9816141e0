/** Prometheus metrics of one app. Labels are endpoint ids and status classes: never anything a caller can make up. */
import { endpointsOf, type Api } from "@coffer/contract";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import { BUILD, VERSION } from "../build.ts";
import type { Deps } from "../deps.ts";
import type { SystemParts } from "../features/system/handlers.ts";
import { DURATION_BOUNDS, Durations } from "../ports/durations.ts";
import { STORAGE_PARTS } from "../storage-watch.ts";
import { registerDatabase } from "./database-metrics.ts";
import type { Call } from "./call.ts";
import type { Transfers } from "./transfers.ts";

const UNMATCHED = "unmatched";
const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;
/** Plain numbers: counting through the library was measured at ten times as much, and is needed at each scrape only. */
interface Tally {
  readonly byClass: number[];
  readonly durations: Durations;
}

export interface Metrics {
  observe(call: Call, status: number, milliseconds: number): void;
  /** The text format, with its media type. */
  render(): Promise<{ text: string; contentType: string }>;
}

export function createMetrics(
  api: Api,
  transfers: Transfers,
  storage: Pick<Deps, "database" | "blobs" | "clock" | "mailer"> & Pick<SystemParts, "watch">,
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "coffer_" });
  registerBuild(registry);
  const tallies = new Map<string, Tally>();
  for (const id of [...endpointsOf(api).map((endpoint) => endpoint.id), UNMATCHED]) tallies.set(id, emptyTally());
  const bytes = { in: 0, out: 0 };
  registerRequests(registry, tallies);
  registerDurations(registry, {
    name: "coffer_http_request_duration_seconds",
    help: "From the request's headers to the end of the answer, cumulative",
    label: "endpoint",
    read: () => [...tallies].map(([endpoint, { durations }]) => [endpoint, durations] as const),
  });
  registerDurations(registry, {
    name: "coffer_storage_write_duration_seconds",
    help: "Commits of the database and flushes of the blob store's disk, cumulative",
    label: "operation",
    read: () => [
      ["commit", storage.database.commits] as const,
      ...(storage.blobs.flushes === undefined ? [] : [["flush", storage.blobs.flushes] as const]),
    ],
  });
  registerBytes(registry, bytes);
  registerTransfers(registry, transfers);
  registerStorage(registry, storage);
  registerDatabase(registry, storage);
  registerBlobRequests(registry, storage);
  registerMail(registry, storage);
  return {
    observe(call, status, milliseconds) {
      const tally = tallies.get(call.endpointId ?? UNMATCHED);
      if (tally !== undefined) count(tally, status, milliseconds);
      bytes.in += call.bytesIn;
      bytes.out += call.bytesOut;
    },
    async render() {
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

function emptyTally(): Tally {
  return { byClass: CLASSES.map(() => 0), durations: new Durations() };
}

function count(tally: Tally, status: number, milliseconds: number): void {
  const statusClass = Math.floor(status / 100) - 1;
  tally.byClass[statusClass] = (tally.byClass[statusClass] ?? 0) + 1;
  tally.durations.observe(milliseconds);
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

interface Histogram<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly label: Label;
  readonly read: () => readonly (readonly [string, Durations])[];
}

/** A histogram by hand: the library's takes one observation at a time and cannot be filled from sums. */
function registerDurations<Label extends string>(
  registry: Registry,
  { name, help, label, read }: Histogram<Label>,
): void {
  const buckets: Gauge = new Gauge({
    name: `${name}_bucket`,
    help,
    labelNames: [label, "le"],
    registers: [registry],
    collect() {
      for (const [value, { counts }] of read()) {
        let sum = 0;
        for (const [index, le] of [...DURATION_BOUNDS, "+Inf"].entries()) {
          sum += counts[index] ?? 0;
          buckets.set({ [label]: value, le }, sum);
        }
      }
    },
  });
  const seconds: Counter = new Counter({
    name: `${name}_sum`,
    help: "Seconds together",
    labelNames: [label],
    registers: [registry],
    collect() {
      seconds.reset();
      for (const [value, durations] of read()) seconds.inc({ [label]: value }, durations.seconds);
    },
  });
  const measured: Counter = new Counter({
    name: `${name}_count`,
    help: "How many were measured",
    labelNames: [label],
    registers: [registry],
    collect() {
      measured.reset();
      for (const [value, { counts }] of read())
        measured.inc(
          { [label]: value },
          counts.reduce((sum, count) => sum + count, 0),
        );
    },
  });
}

function registerBuild(registry: Registry): void {
  new Gauge({
    name: "coffer_build_info",
    help: "Always 1: the labels say what runs",
    labelNames: ["version", "build", "node"],
    registers: [registry],
  }).set({ version: VERSION, build: BUILD, node: process.versions.node }, 1);
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

function registerMail(registry: Registry, { mailer }: Pick<Deps, "mailer">): void {
  new Gauge({
    name: "coffer_mail_delivered",
    help: "1 when mails go to the server of SERVICE_SMTP_URL; 0: they are files in the data directory's outbox, and nobody gets them",
    registers: [registry],
  }).set(mailer.delivers ? 1 : 0);
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

/** Asked at each scrape: 1 when the part answers and takes writes, else 0. */
function registerStorage(
  registry: Registry,
  { database, blobs, watch }: Pick<Deps, "database" | "blobs"> & Pick<SystemParts, "watch">,
): void {
  const up: Gauge<"part"> = new Gauge({
    name: "coffer_storage_up",
    help: "Whether the database and the blob store answer and take writes",
    labelNames: ["part"],
    registers: [registry],
    async collect() {
      for (const part of STORAGE_PARTS) {
        const isOut = watch.has(part, "stopped") || watch.has(part, "away");
        up.set({ part }, isOut ? 0 : await answers({ database, blobs }[part]));
      }
    },
  });
  const damaged: Gauge<"part"> = new Gauge({
    name: "coffer_storage_damaged",
    help: "Whether the database or the blob store was found damaged; the log names file and query",
    labelNames: ["part"],
    registers: [registry],
    collect() {
      for (const part of STORAGE_PARTS) damaged.set({ part }, watch.has(part, "damaged") ? 1 : 0);
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
