/** Prometheus metrics of one app. Labels are endpoint ids and status classes: never anything a caller can make up. */
import { endpointsOf, type Api } from "@coffer/contract";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import { BUILD, VERSION } from "../build.ts";
import type { Deps } from "../deps.ts";
import type { SystemParts } from "../features/system/handlers.ts";
import { Durations } from "../ports/durations.ts";
import { registerDatabase } from "./database-metrics.ts";
import type { Call } from "./call.ts";
import { renderHistogram } from "./histograms.ts";
import { registerStorage } from "./storage-metrics.ts";
import type { Transfers } from "./transfers.ts";

/** Gauges of the library. Each is the sum of another one, which has its labels. */
const NAMED_AS_COUNTERS = ["handles", "requests", "resources"].map((of) => `coffer_nodejs_active_${of}_total`);
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
  for (const name of NAMED_AS_COUNTERS) registry.removeSingleMetric(name);
  registerBuild(registry);
  const tallies = new Map<string, Tally>();
  for (const id of [...endpointsOf(api).map((endpoint) => endpoint.id), UNMATCHED]) tallies.set(id, emptyTally());
  const bytes = { in: 0, out: 0 };
  registerRequests(registry, tallies);
  registerBytes(registry, bytes);
  registerTransfers(registry, transfers);
  registerStorage(registry, storage);
  registerDatabase(registry, storage);
  registerBlobRequests(registry, storage);
  registerMail(registry, storage);
  const renderDurations = (): string[] => [
    renderHistogram({
      name: "coffer_http_request_duration_seconds",
      help: "From the request's headers to the end of the answer",
      label: "endpoint",
      read: () => [...tallies].map(([endpoint, { durations }]) => [endpoint, durations] as const),
    }),
    renderHistogram({
      name: "coffer_storage_write_duration_seconds",
      help: "Commits of the database and flushes of the blob store's disk",
      label: "operation",
      read: () => [
        ["commit", storage.database.commits] as const,
        ...(storage.blobs.flushes === undefined ? [] : [["flush", storage.blobs.flushes] as const]),
      ],
    }),
  ];
  return {
    observe(call, status, milliseconds) {
      const tally = tallies.get(call.endpointId ?? UNMATCHED);
      if (tally !== undefined) count(tally, status, milliseconds);
      bytes.in += call.bytesIn;
      bytes.out += call.bytesOut;
    },
    async render() {
      return { text: [await registry.metrics(), ...renderDurations()].join("\n"), contentType: registry.contentType };
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
