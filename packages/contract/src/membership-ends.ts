/** When memberships may end (encryption design §8, decision 0036). */
import * as z from "zod/mini";
import { timestamp } from "./values.ts";

/** Ends are whole multiples of it, in milliseconds since 1970: a quarter of an hour. */
export const END_STEP = 900_000;

/** The latest end: the last whole quarter of an hour that RFC 3339 can write. */
const LAST_END = 253_402_299_900_000;

/** Why a membership cannot end at that time (milliseconds since 1970), with the two nearest ends that it can have; null when it can. */
export function endProblem(at: number): string | null {
  if (!Number.isFinite(at) || at <= 0 || at > LAST_END) return "must be a time between 1970 and 9999";
  if (at % END_STEP === 0) return null;
  const before = Math.floor(at / END_STEP) * END_STEP;
  const [earlier, later] = [before, before + END_STEP].map((end) => new Date(end).toISOString());
  return `must be a whole quarter of an hour, such as ${earlier} or ${later}`;
}

/** When a membership ends by itself: a {@link timestamp} that is a whole quarter of an hour. */
export const membershipEnd = timestamp.check(
  z.check((context) => {
    const problem = endProblem(Date.parse(context.value));
    if (problem !== null) context.issues.push({ code: "custom", message: problem, input: context.value });
  }),
);
