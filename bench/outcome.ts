/** What a benchmark says: numbers, a ratio with its limit, and what was missing. */

export interface Limit {
  readonly at: "most" | "least";
  readonly value: number;
}

export interface Measured {
  readonly kind: "measured";
  readonly name: string;
  /** What was measured, one line. */
  readonly about: string;
  readonly value: number;
  readonly unit: string;
  readonly limit: Limit;
  /** Other numbers of the same run that have bounds of their own. */
  readonly alsoHeld?: Readonly<Record<string, { readonly value: number; readonly limit: Limit }>>;
  readonly pass: boolean;
  /** Every series behind the value, round by round. */
  readonly series: Readonly<Record<string, readonly number[]>>;
  readonly facts: Readonly<Record<string, string>>;
}

export interface NotMeasured {
  readonly kind: "not measured";
  readonly name: string;
  /** Why, and what to install. */
  readonly reason: string;
}

export type Outcome = Measured | NotMeasured;

export type Benchmark = () => Promise<Outcome>;

/** Fills in whether all limits hold. */
export function measured(outcome: Omit<Measured, "kind" | "pass">): Measured {
  const pass = [outcome, ...Object.values(outcome.alsoHeld ?? {})].every(isHeld);
  return { ...outcome, kind: "measured", pass };
}

function isHeld({ limit: { at, value: bound }, value }: Pick<Measured, "limit" | "value">): boolean {
  return at === "most" ? value <= bound : value >= bound;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Pairs of one round share what else the machine was doing: their ratios vary less than the numbers. */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]): number {
  return median(ratiosOf(numerators, denominators));
}

/** The median of {@link medianRatio}, and how far single rounds are from it. */
export function renderRatios(numerators: readonly number[], denominators: readonly number[]): string {
  const ratios = ratiosOf(numerators, denominators);
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return `${short(median(ratios))} (from ${short(least)} to ${short(most)} over ${String(ratios.length)})`;
}

function ratiosOf(numerators: readonly number[], denominators: readonly number[]): number[] {
  return numerators.map((value, at) => value / (denominators[at] ?? Number.NaN));
}

export function renderOutcome(outcome: Outcome): string {
  if (outcome.kind === "not measured") return `SKIP  ${outcome.name}: ${outcome.reason}`;
  const { about, alsoHeld = {}, facts, limit, name, pass, series, unit, value } = outcome;
  const others = Object.entries(alsoHeld).map(
    ([title, held]) =>
      `        ${isHeld(held) ? "held" : "MISSED"}: ${title}: ${short(held.value)} (at ${held.limit.at} ${String(held.limit.value)})`,
  );
  const lines = Object.entries(series).map(
    ([title, values]) =>
      `        ${title}: median ${short(median(values))}, from ${short(Math.min(...values))} to ${short(Math.max(...values))} over ${String(values.length)}`,
  );
  const more = Object.entries(facts).map(([title, fact]) => `        ${title}: ${fact}`);
  return [
    `${pass ? "PASS" : "MISS"}  ${name}: ${short(value)} ${unit} (at ${limit.at} ${String(limit.value)})  ${about}`,
    ...others,
    ...lines,
    ...more,
  ].join("\n");
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
