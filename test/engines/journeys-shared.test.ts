/** Journeys of shared vaults whose servers keep nothing on their own disk here. Nightly: see NIGHTLY in vitest.config.ts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { networkOpeners } from "../journeys/programs/programs.ts";
import { failuresOf, journeysOn, LIMIT } from "../journeys/programs/samples.ts";
import { openSharedService, type SharedService } from "../journeys/kit/shared-service.ts";
import { onEngines } from "./on-engines.ts";

onEngines(() => {
  describe("journeys of shared vaults, on PostgreSQL and an S3 store", () => {
    let service: SharedService;
    beforeAll(async () => {
      service = await openSharedService();
    }, LIMIT);
    /** Rejects when a chain key is found on the wire, in a row, in an object or in the log of the service. */
    afterAll(() => service[Symbol.asyncDispose](), LIMIT);

    it.each(journeysOn("network", "all"))(
      "$name: $title",
      async (journey) => expect(await failuresOf(journey, networkOpeners(service, journey.name))).toEqual([]),
      LIMIT,
    );
  });
});
