/** Journeys of a stack whose servers keep nothing on their own disk here, chosen as in `journeys-shared.test.ts`. */
import { expect, it } from "vitest";
import { stackOpeners } from "../journeys/programs/programs.ts";
import { failuresOf, LIMIT } from "../journeys/programs/samples.ts";
import { chosenOn } from "./chosen-journeys.ts";
import { onEngines } from "./on-engines.ts";

onEngines(() => {
  it.each(chosenOn("stack", ["J7", "J9", "J20"]))(
    "$name: $title, on PostgreSQL and an S3 store",
    async (journey) => expect(await failuresOf(journey, stackOpeners(journey.name))).toEqual([]),
    LIMIT,
  );
});
