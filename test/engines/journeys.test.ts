/** Journeys of shared vaults, whose servers keep nothing on their own disk here. */
import { expect, it } from "vitest";
import { networkOpeners } from "../acceptance/journeys/programs.ts";
import { failuresOf, journeysOn, LIMIT } from "../acceptance/journeys/samples.ts";
import { openSharedService } from "../acceptance/kit/shared-service.ts";
import { onEngines } from "./on-engines.ts";

const CHOSEN = ["J2", "J5", "J7", "J16"];

onEngines(() => {
  const journeys = journeysOn("network", "all").filter(({ name }) => CHOSEN.includes(name));
  it("has all of them", () => expect(journeys.map(({ name }) => name)).toEqual(CHOSEN));

  it.each(journeys)(
    "$name: $title, on PostgreSQL and an S3 store",
    async (journey) => {
      await using service = await openSharedService();
      expect(await failuresOf(journey, networkOpeners(service, journey.name))).toEqual([]);
    },
    LIMIT,
  );
});
