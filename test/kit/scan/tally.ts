/** What the scans of all units came to together: `npm test` prints it, and fails when it is not what it should be. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScanOutcome, ScanTally } from "./scan-unit.ts";

/** Names the directory that each unit leaves its outcome in. */
export const TALLY_VARIABLE = "COFFER_SCAN_TALLY";

export function writeOutcome(directory: string, name: string, outcome: ScanOutcome): void {
  writeFileSync(join(directory, `${name.replaceAll(/[^\w.-]/g, "_")}.json`), JSON.stringify(outcome));
}

export interface ScanTotal {
  readonly line: string;
  readonly problems: readonly string[];
}

/** Adds up what is in the directory. `files`: how many units must have reported. `fewest`: what they must have seen together. */
export function addOutcomes(directory: string, files: number, fewest = FEWEST.tests): ScanTotal {
  const outcomes = readdirSync(directory).map(
    (name) => JSON.parse(readFileSync(join(directory, name), "utf8")) as ScanOutcome,
  );
  const sum = (of: (tally: ScanTally) => number): number => outcomes.reduce((all, { tally }) => all + of(tally), 0);
  const seen = {
    "wire bytes": sum(({ wireBytes }) => wireBytes),
    "disk bytes": sum(({ diskBytes }) => diskBytes),
    "log bytes": sum(({ logBytes }) => logBytes),
    processes: sum(({ processes }) => processes),
    "pieces of content": sum(({ secrets }) => secrets.content),
    names: sum(({ secrets }) => secrets.name),
    keys: sum(({ secrets }) => secrets.key),
    "chain keys": sum(({ secrets }) => secrets["chain-key"]),
  };
  const found = outcomes.flatMap(({ problems }) => problems);
  const secrets = seen["pieces of content"] + seen.names + seen.keys + seen["chain keys"];
  const line =
    `scan: ${seen["wire bytes"]} wire bytes, ${seen["disk bytes"]} disk bytes and ${seen["log bytes"]} log bytes of ` +
    `${seen.processes} processes against ${secrets} secrets: ${found.length} found`;
  const few = Object.entries(fewest).filter(([what, least]) => (seen[what as keyof typeof seen] ?? 0) < least);
  return {
    line,
    problems: [
      ...found,
      ...few.map(
        ([what, least]) => `the scan saw ${seen[what as keyof typeof seen]} ${what}, and expects ${least} or more`,
      ),
      ...(outcomes.length < files ? [`${files - outcomes.length} of ${files} test files were not scanned`] : []),
    ],
  };
}

/** Well below what a whole run makes: a tap that has come loose shows. */
export const FEWEST = {
  tests: {
    "wire bytes": 50_000_000,
    "disk bytes": 20_000_000,
    "log bytes": 500_000,
    processes: 200,
    "pieces of content": 2_000,
    names: 5,
    keys: 400,
    "chain keys": 100,
  },
  deep: {
    "wire bytes": 20_000_000,
    "disk bytes": 10_000_000,
    "log bytes": 20_000,
    processes: 60,
    "pieces of content": 100,
    names: 20,
    keys: 200,
    "chain keys": 20,
  },
};
