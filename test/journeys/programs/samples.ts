/** Which journeys `npm test` runs, and which the deep tests: one of each ground, and all others. */
import { JOURNEYS } from "./catalogue.ts";
import type { Ground, Journey } from "./observable.ts";
import { isBuilt, renderOutcome, runJourney, type Openers } from "./run.ts";

/** Starting a stack, a second server and a tool server takes its time on a busy machine. Milliseconds. */
export const LIMIT = 600_000;

/**
 * With full counts alone. J18 changes a copy of the repository and runs its tests there; the others are long walks whose parts have deep
 * tests of their own (`test/shared-vaults`, `test/shared-files`, `test/cli`; injection and audit in `test/mcp`; development headers in
 * `test/journeys/http`; an older server, what changed, searches and rewinding beside their features).
 */
const NIGHTLY: Readonly<Record<Ground, readonly string[]>> = {
  stack: ["J1", "J11", "J12", "J13", "J14", "J18", "J19", "J20", "J21", "J23", "J24"],
  network: ["J15", "J16", "J20", "J21", "J22", "J23", "J24"],
};
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

const SAMPLES: Readonly<Record<Ground, string>> = { stack: "J9", network: "J7" };

/** Those with something built on this ground. Every journey is in "sample" or in "rest", but for those of the nightly tests. */
export function journeysOn(ground: Ground, which: "all" | "sample" | "rest"): Journey[] {
  const built = JOURNEYS.filter(({ observables }) => observables.some((one) => isBuilt(one, ground)));
  if (which === "all") return built;
  const isSample = ({ name }: Journey): boolean => name === SAMPLES[ground];
  return built.filter((journey) =>
    which === "sample" ? isSample(journey) : !isSample(journey) && (FULL || !NIGHTLY[ground].includes(journey.name)),
  );
}

/** Runs a journey; one line for each observable that failed. */
export async function failuresOf(journey: Journey, openers: Openers): Promise<string[]> {
  const outcomes = await runJourney(journey, openers, () => undefined);
  return outcomes.filter(({ kind }) => kind === "failed").map(renderOutcome);
}
