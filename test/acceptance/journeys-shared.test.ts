import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JOURNEYS } from "./journeys/catalogue.ts";
import { networkOpeners } from "./journeys/programs.ts";
import { isBuilt, renderOutcome, runJourney } from "./journeys/run.ts";
import { openSharedService, type SharedService } from "./kit/shared-service.ts";

/** Milliseconds, on a busy machine. */
const LIMIT = 300_000;

describe("journeys of shared vaults, beside a local network", () => {
  let service: SharedService;
  beforeAll(async () => {
    service = await openSharedService();
  }, LIMIT);
  /** Rejects when a chain key is found on the wire, in the database or in the log of the service. */
  afterAll(() => service[Symbol.asyncDispose](), LIMIT);

  it.each(JOURNEYS.filter(({ observables }) => observables.some((one) => isBuilt(one, "network"))))(
    "$name: $title",
    async (journey) => {
      const outcomes = await runJourney(journey, networkOpeners(service, journey.name), () => undefined);
      expect(outcomes.filter(({ kind }) => kind === "failed").map(renderOutcome)).toEqual([]);
    },
    LIMIT,
  );
});
