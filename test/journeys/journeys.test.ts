import { describe, expect, it } from "vitest";
import { JOURNEYS } from "./programs/catalogue.ts";
import type { Journey } from "./programs/observable.ts";
import { networkOpeners, PROGRAMS, SHARED_PROGRAMS, stackOpeners } from "./programs/programs.ts";
import { renderOutcome, runJourney } from "./programs/run.ts";
import { failuresOf, journeysOn, LIMIT } from "./programs/samples.ts";
import { openSharedService } from "./kit/shared-service.ts";
import { REQUIREMENT_ID } from "./requirement.ts";

const observables = JOURNEYS.flatMap((journey) => journey.observables.map((observable) => ({ journey, observable })));

describe("the catalogue of journeys", () => {
  it("names J1 to J24, in order", () => {
    expect(JOURNEYS.map(({ name }) => name)).toEqual([...Array.from({ length: 24 }, (_, index) => `J${index + 1}`)]);
  });

  it("gives every observable a well-formed id of its journey, once", () => {
    const ids = observables.map(({ observable }) => observable.id);
    expect(new Set(ids).size).toBe(ids.length);
    const wrong = observables.filter(
      ({ journey, observable: { id } }) => !REQUIREMENT_ID.test(id) || !id.startsWith(`${journey.name}-`),
    );
    expect(wrong).toEqual([]);
  });

  it("has a program for exactly the journeys with something built", () => {
    expect(Object.keys(PROGRAMS)).toEqual(journeysOn("stack", "all").map(({ name }) => name));
    expect(Object.keys(SHARED_PROGRAMS)).toEqual(journeysOn("network", "all").map(({ name }) => name));
  });
});

describe("a run says everything", () => {
  const journey: Journey = {
    name: "J0",
    title: "made up",
    observables: [{ id: "J0-later", tag: "cli", text: "later", status: "pending", issue: "cli" }],
  };

  it("lists what is pending, with the reason", async () => {
    const outcomes = await runJourney(journey, {}, () => undefined);
    expect(outcomes.map(renderOutcome)).toEqual(["pending J0-later [cli] later (waits for cli)"]);
  });

  it("fails a built observable that has no program", async () => {
    const observable = { id: "J0-now", tag: "api", text: "now", status: "built", ground: "stack" } as const;
    const built: Journey = { ...journey, observables: [observable] };
    const outcomes = await runJourney(built, { stack: undefined }, () => undefined);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["failed"]);
    expect(await runJourney(built, { network: undefined }, () => undefined)).toEqual([]);
  });
});

describe("one journey of each ground", () => {
  it.each(journeysOn("stack", "sample"))(
    "$name: $title",
    async (journey) => expect(await failuresOf(journey, stackOpeners(journey.name))).toEqual([]),
    LIMIT,
  );

  it.each(journeysOn("network", "sample"))(
    "$name: $title, of shared vaults",
    async (journey) => {
      await using service = await openSharedService();
      expect(await failuresOf(journey, networkOpeners(service, journey.name))).toEqual([]);
    },
    LIMIT,
  );
});
