import type { Ground, Journey } from "../acceptance/journeys/observable.ts";
import { journeysOn } from "../acceptance/journeys/samples.ts";

/** The journeys of a ground. Those that are named run only with `COFFER_TEST_COUNTS=full`. */
export function chosenOn(ground: Ground, onlyInFull: readonly string[]): Journey[] {
  const left = process.env["COFFER_TEST_COUNTS"] === "full" ? [] : onlyInFull;
  return journeysOn(ground, "all").filter(({ name }) => !left.includes(name));
}
