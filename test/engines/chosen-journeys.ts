import type { Ground, Journey } from "../journeys/programs/observable.ts";
import { journeysOn } from "../journeys/programs/samples.ts";

/** The journeys of a ground that ask most of the server's storage; with `COFFER_TEST_COUNTS=full`, all of them. */
export function chosenOn(ground: Ground, always: readonly string[]): Journey[] {
  const all = journeysOn(ground, "all");
  return process.env["COFFER_TEST_COUNTS"] === "full" ? all : all.filter(({ name }) => always.includes(name));
}
