/** What a run found, endpoint by endpoint. */
import type { EndpointDefinition } from "@coffer/contract";

export interface Finding {
  /** The endpoint's id, or `http` for what belongs to none. */
  readonly endpoint: string;
  /** What was being tried. */
  readonly step: string;
  readonly problem: string;
}

export interface EndpointReport {
  readonly id: string;
  readonly calls: number;
  readonly checks: number;
  readonly findings: readonly Finding[];
}

export interface Report {
  readonly endpoints: readonly EndpointReport[];
  /** Endpoints of the service that the run never called; each is a finding too. */
  readonly uncalled: readonly string[];
  readonly findings: readonly Finding[];
  /** What could not be tried on this server, and why. */
  readonly notes: readonly string[];
}

/** Collects while a run goes on. */
export interface Recorder {
  called(id: string): void;
  /** Counts one check; a problem when it does not hold. */
  check(id: string, step: string, holds: boolean, problem: string): void;
  note(text: string): void;
  report(): Report;
}

/** Stands for requests that reach no endpoint. */
export const HTTP = "http";

export function openRecorder(endpoints: readonly EndpointDefinition[]): Recorder {
  const ids = endpoints.map(({ id }) => id);
  const calls = new Map<string, number>();
  const checks = new Map<string, number>();
  const findings: Finding[] = [];
  const notes: string[] = [];
  const increase = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1);
  return {
    called: (id) => void increase(calls, id),
    check(id, step, holds, problem) {
      increase(checks, id);
      if (!holds) findings.push({ endpoint: id, step, problem });
    },
    note: (text) => {
      if (!notes.includes(text)) notes.push(text);
    },
    report: () => summarise(ids, calls, checks, findings, notes),
  };
}

function summarise(
  ids: readonly string[],
  calls: ReadonlyMap<string, number>,
  checks: ReadonlyMap<string, number>,
  found: readonly Finding[],
  notes: readonly string[],
): Report {
  const uncalled = ids.filter((id) => !calls.has(id));
  const findings = [
    ...found,
    ...uncalled.map((id) => ({ endpoint: id, step: "coverage", problem: "was never called" })),
  ];
  const endpoints = [...ids, HTTP].map((id) => ({
    id,
    calls: calls.get(id) ?? 0,
    checks: checks.get(id) ?? 0,
    findings: findings.filter((finding) => finding.endpoint === id),
  }));
  return { endpoints, uncalled, findings, notes };
}

/** A line per endpoint, its findings below it, counts at the end. */
export function renderReport(report: Report): string {
  const lines = report.endpoints.flatMap((e) => [
    `${e.findings.length === 0 ? "ok  " : "FAIL"}  ${e.id.padEnd(20)} ${String(e.calls).padStart(4)} calls ${String(e.checks).padStart(5)} checks`,
    ...counted(e.findings.map((finding) => `        ${finding.step}: ${finding.problem}`)),
  ]);
  const total = (pick: (e: EndpointReport) => number) => String(report.endpoints.reduce((sum, e) => sum + pick(e), 0));
  const counts = `${String(report.endpoints.length - 1)} endpoints, ${total((e) => e.calls)} calls, ${total((e) => e.checks)} checks, `;
  return [
    ...lines,
    ...report.notes.map((note) => `note: ${note}`),
    `${counts}${String(report.findings.length)} findings`,
  ].join("\n");
}

/** One line for what was found several times. */
function counted(lines: readonly string[]): string[] {
  const times = new Map<string, number>();
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1);
  return [...times].map(([line, count]) => (count === 1 ? line : `${line} (${String(count)} times)`));
}
