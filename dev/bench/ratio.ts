/** Ours over a peer's, measured in turns in one run, and the same ratio in the baseline. Ratios survive a busy machine; single numbers do not. */

export interface Comparison {
  /** What is compared with which peer. The baseline knows the comparison by it. */
  readonly title: string;
  readonly better: "higher" | "lower";
  readonly unit: string;
  /** Round by round; a round of ours and the same round of the peer share what else the machine was doing. */
  readonly ours: readonly number[];
  readonly peer: readonly number[];
}

/** A comparison whose peer is not installed. */
export interface Skipped {
  readonly title: string;
  /** What is missing, and how to install it. */
  readonly reason: string;
}

export interface Outcome {
  readonly comparisons: readonly Comparison[];
  readonly skipped?: readonly Skipped[];
  /** What is worth knowing and not compared. */
  readonly facts?: Readonly<Record<string, string>>;
}

export type Benchmark = () => Promise<Outcome>;

/** The median of the rounds, and the spread: where they lie without a tenth of them at either end. Three significant digits. */
export interface Ratio {
  readonly ratio: number;
  readonly from: number;
  readonly to: number;
}

/** By benchmark and title. */
export type Baseline = Readonly<Record<string, Readonly<Record<string, Ratio>>>>;

export type Verdict = "new" | "same" | "better" | "worse";

export function ratioOf({ ours, peer }: Pick<Comparison, "ours" | "peer">): Ratio {
  const ratios = ours.map((value, round) => value / (peer[round] ?? Number.NaN)).sort((left, right) => left - right);
  const dropped = Math.floor(ratios.length / 10);
  return {
    ratio: threeDigits(median(ratios)),
    from: threeDigits(ratios[dropped] ?? Number.NaN),
    to: threeDigits(ratios[ratios.length - 1 - dropped] ?? Number.NaN),
  };
}

/** A ratio is worse when the whole of its spread lies beyond that of the baseline: not even a good round reaches a bad one from before. */
export function compare(better: Comparison["better"], now: Ratio, before: Ratio | undefined): Verdict {
  if (before === undefined) return "new";
  if (now.to < before.from) return better === "higher" ? "worse" : "better";
  if (now.from > before.to) return better === "higher" ? "better" : "worse";
  return "same";
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Does its work once, and answers what of it counts. Round 0 is the one that warms up. */
export type Way = (round: number) => Promise<number>;

/** Runs every way once a round, and the next round in the opposite order. Round 0 warms up and is not in the answer. */
export async function inTurns<Name extends string>(
  rounds: number,
  ways: Readonly<Record<Name, Way>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(ways) as Name[];
  const series = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round <= rounds; round += 1)
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const value = await ways[name](round);
      if (round > 0) series[name].push(value);
    }
  return series;
}

/** Throughputs of the same work, from what it took. */
export function rates(amount: number, seconds: readonly number[]): number[] {
  return seconds.map((each) => amount / each);
}

function threeDigits(value: number): number {
  return Number(value.toPrecision(3));
}
