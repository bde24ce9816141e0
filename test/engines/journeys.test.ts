/**
 * Journeys whose servers keep nothing on their own disk here. What a journey asks of the server's storage decides: those that ask little (the
 * chain, the command line, the contract) or much time for it run only with `COFFER_TEST_COUNTS=full`.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Ground, Journey } from "../acceptance/journeys/observable.ts";
import { networkOpeners, stackOpeners } from "../acceptance/journeys/programs.ts";
import { failuresOf, journeysOn, LIMIT } from "../acceptance/journeys/samples.ts";
import { openSharedService, type SharedService } from "../acceptance/kit/shared-service.ts";
import { onEngines } from "./on-engines.ts";

const ONLY_IN_FULL: Readonly<Record<Ground, readonly string[]>> = {
  network: ["J15", "J22"],
  stack: ["J1", "J2", "J5", "J8", "J11", "J12", "J13", "J14", "J18"],
};

function chosenOn(ground: Ground): Journey[] {
  const left = process.env["COFFER_TEST_COUNTS"] === "full" ? [] : ONLY_IN_FULL[ground];
  return journeysOn(ground, "all").filter(({ name }) => !left.includes(name));
}

onEngines(() => {
  describe("journeys of shared vaults, on PostgreSQL and an S3 store", () => {
    let service: SharedService;
    beforeAll(async () => {
      service = await openSharedService();
    }, LIMIT);
    /** Rejects when a chain key is found on the wire, in a row, in an object or in the log of the service. */
    afterAll(() => service[Symbol.asyncDispose](), LIMIT);

    it.each(chosenOn("network"))(
      "$name: $title",
      async (journey) => expect(await failuresOf(journey, networkOpeners(service, journey.name))).toEqual([]),
      LIMIT,
    );
  });

  it.each(chosenOn("stack"))(
    "$name: $title, on PostgreSQL and an S3 store",
    async (journey) => expect(await failuresOf(journey, stackOpeners(journey.name))).toEqual([]),
    LIMIT,
  );
});
