/** Journeys of a stack whose servers keep nothing on their own disk here. Nightly: see NIGHTLY in vitest.config.ts. */
import { expect, it } from "vitest";
import { stackOpeners } from "../journeys/programs/programs.ts";
import { failuresOf, journeysOn, LIMIT } from "../journeys/programs/samples.ts";
import { onEngines } from "./on-engines.ts";

onEngines(() => {
  it.each(journeysOn("stack", "all"))(
    "$name: $title, on PostgreSQL and an S3 store",
    async (journey) => expect(await failuresOf(journey, stackOpeners(journey.name))).toEqual([]),
    LIMIT,
  );
});
