/** Histograms in Prometheus's text format, from counts that are kept elsewhere: the library's takes one observation at a time. */
import { DURATION_BOUNDS, type Durations } from "../ports/durations.ts";

export interface DurationHistogram {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  /** Values of the label are names of ours, which need no escape. */
  readonly read: () => readonly (readonly [value: string, durations: Durations])[];
}

/** `name_bucket`, `name_sum` and `name_count` under one type, for each value of the label (prometheus.io/docs/instrumenting/exposition_formats). */
export function renderHistogram({ name, help, label, read }: DurationHistogram): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
  for (const [value, { counts, seconds }] of read()) {
    const own = `${label}="${value}"`;
    let below = 0;
    for (const [index, bound] of [...DURATION_BOUNDS, "+Inf"].entries()) {
      below += counts[index] ?? 0;
      lines.push(`${name}_bucket{${own},le="${String(bound)}"} ${String(below)}`);
    }
    lines.push(`${name}_sum{${own}} ${String(seconds)}`, `${name}_count{${own}} ${String(below)}`);
  }
  return `${lines.join("\n")}\n`;
}
