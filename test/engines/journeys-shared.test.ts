/** Journeys of shared vaults whose servers keep nothing on their own disk here: those that ask most of the storage, or all of them in full counts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { networkOpeners } from "../journeys/programs/programs.ts";
import { failuresOf, LIMIT } from "../journeys/programs/samples.ts";
import { openSharedService, type SharedService } from "../journeys/kit/shared-service.ts";
import { chosenOn } from "./chosen-journeys.ts";
import { onEngines } from "./on-engines.ts";

onEngines(() => {
  describe("journeys of shared vaults, on PostgreSQL and an S3 store", () => {
    let service: SharedService;
    beforeAll(async () => {
      service = await openSharedService();
    }, LIMIT);
    /** Rejects when a chain key is found on the wire, in a row, in an object or in the log of the service. */
    afterAll(() => service[Symbol.asyncDispose](), LIMIT);

    it.each(chosenOn("network", ["J7", "J23"]))(
      "$name: $title",
      async (journey) => expect(await failuresOf(journey, networkOpeners(service, journey.name))).toEqual([]),
      LIMIT,
    );
  });
});
