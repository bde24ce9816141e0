/** Options that nobody reads are refused: a misspelt time limit would go unnoticed until it is needed. */
import { configurationError } from "../http/errors.ts";

/** Throws SdkError `configuration` for a name that is none of `known`. `where`: what the options are of. Values are never shown. */
export function requireKnown(where: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const shown = JSON.stringify(name.slice(0, 50));
    const [nearest] = known
      .map((each) => ({ each, distance: editDistance(each.toLowerCase(), name.slice(0, 50).toLowerCase()) }))
      .filter(({ each, distance }) => distance <= Math.max(2, each.length / 3))
      .toSorted((a, b) => a.distance - b.distance);
    const hint = nearest === undefined ? `the options are ${known.join(", ")}` : `did you mean ${nearest.each}?`;
    throw configurationError(`${where} has no option ${shown}: ${hint}`);
  }
}

/** Levenshtein's. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1)
      next.push(Math.min((row[j] ?? 0) + (a[i] === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row[b.length] ?? 0;
}
