import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { networkOpeners } from "./programs/programs.ts";
import { failuresOf, journeysOn, LIMIT } from "./programs/samples.ts";
import { openSharedService, type SharedService } from "./kit/shared-service.ts";

describe("journeys of shared vaults, beside a local network", () => {
  let service: SharedService;
  beforeAll(async () => {
    service = await openSharedService();
  }, LIMIT);
  /** Rejects when a chain key is found on the wire, in the database or in the log of the service. */
  afterAll(() => service[Symbol.asyncDispose](), LIMIT);

  it.each(journeysOn("network", "rest"))(
    "$name: $title",
    async (journey) => expect(await failuresOf(journey, networkOpeners(service, journey.name))).toEqual([]),
    LIMIT,
  );
});
