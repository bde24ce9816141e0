/** Where each number of processes bends: the highest rate that is still answered in time. */
import { type Costs, type Load, simulate, type Simulated } from "./model.ts";

/** A rate counts as served while 99 of 100 requests take at most so many milliseconds. */
export const IN_TIME = 50;
/** Queues need time to grow: seconds, and at least so many requests. */
const SECONDS = 3;
const REQUESTS = 20_000;
/** Each rate is so much more than the one before. */
const STEP = 1.1;
const FIRST = 100;

export interface Curve {
  readonly load: Omit<Load, "rate" | "requests">;
  readonly points: readonly (Simulated & { readonly rate: number })[];
  /** Requests a second. */
  readonly knee: number;
  /** What is busiest there. */
  readonly bound: string;
}

export function findKnee(costs: Costs, load: Curve["load"]): Curve {
  const points: (Simulated & { rate: number })[] = [];
  for (let rate = FIRST; points.length < 100; rate *= STEP) {
    const point = { rate, ...simulate(costs, { ...load, rate, requests: Math.max(REQUESTS, rate * SECONDS) }) };
    points.push(point);
    if (point.most > IN_TIME) break;
  }
  const served = points.filter(({ most }) => most <= IN_TIME).at(-1) ?? points[0];
  return { load, points, knee: served?.rate ?? 0, bound: boundOf(points.at(-1)) };
}

/** The log takes everything that waits, however much: it is busy and never full. Where nothing else is busy, writes wait for their account. */
function boundOf(last: Simulated | undefined): string {
  const { processes = 0, database = 0 } = last?.busy ?? {};
  if (Math.max(processes, database) < 0.8) return "the account";
  return processes > database ? "processes" : "PostgreSQL";
}
