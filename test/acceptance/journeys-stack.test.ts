import { describe, expect, it } from "vitest";
import { stackOpeners } from "./journeys/programs.ts";
import { failuresOf, journeysOn, LIMIT } from "./journeys/samples.ts";

describe("journeys against a fresh stack each", () => {
  it.each(journeysOn("stack", "rest"))(
    "$name: $title",
    async (journey) => expect(await failuresOf(journey, stackOpeners(journey.name))).toEqual([]),
    LIMIT,
  );
});
