/** Prometheus metrics of one app. Labels are endpoint ids and status classes: never anything a caller can make up. */
import { endpointsOf, type Api } from "@coffer/contract";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Call } from "./call.ts";
import type { Transfers } from "./transfers.ts";

const UNMATCHED = "unmatched";
const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;

interface EndpointMeters {
  readonly byClass: readonly Counter.Internal[];
  readonly duration: Histogram.Internal<"endpoint">;
}

export interface Metrics {
  observe(call: Call, status: number, milliseconds: number): void;
  /** The text format, with its media type. */
  render(): Promise<{ text: string; contentType: string }>;
}

export function createMetrics(api: Api, transfers: Transfers): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "coffer_" });
  const requests = new Counter({
    name: "coffer_http_requests_total",
    help: "Requests answered, by endpoint and status class",
    labelNames: ["endpoint", "status"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "coffer_http_request_duration_seconds",
    help: "From the request's headers to the end of the answer",
    labelNames: ["endpoint"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
    registers: [registry],
  });
  const bytes = new Counter({
    name: "coffer_http_body_bytes_total",
    help: "Bytes of bodies",
    labelNames: ["direction"],
    registers: [registry],
  });
  registerTransfers(registry, transfers);
  const meters = new Map<string, EndpointMeters>();
  for (const id of [...endpointsOf(api).map((endpoint) => endpoint.id), UNMATCHED]) {
    const byClass = CLASSES.map((status) => requests.labels(id, status));
    meters.set(id, { byClass, duration: durations.labels(id) });
  }
  const bytesIn = bytes.labels("in");
  const bytesOut = bytes.labels("out");
  return {
    observe(call, status, milliseconds) {
      const meter = meters.get(call.endpointId ?? UNMATCHED);
      meter?.byClass[Math.floor(status / 100) - 1]?.inc();
      meter?.duration.observe(milliseconds / 1000);
      if (call.bytesIn > 0) bytesIn.inc(call.bytesIn);
      if (call.bytesOut > 0) bytesOut.inc(call.bytesOut);
    },
    async render() {
      return { text: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

function registerTransfers(registry: Registry, transfers: Transfers): void {
  const gauge: Gauge = new Gauge({
    name: "coffer_active_transfers",
    help: "Byte bodies on their way in or out",
    registers: [registry],
    collect: () => gauge.set(transfers.size),
  });
}
