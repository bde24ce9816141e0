/**
 * What must hold however transactions run side by side: every driver is held to it. Each race is run in many orders; which of
 * those that are at a statement goes on, a seed decides (test/kit/schedule.ts). A failure names the seed, which gives the order again
 * where the driver itself does nothing by chance.
 */
import { describe, it } from "vitest";
import { type Race, RACES, openWorlds, requireWhole, type World } from "@coffer/server/races";
import type { Database } from "@coffer/server/ports/database";
import { Schedule, scheduled } from "../kit/schedule.ts";

/** A database of its own, empty, with the newest schema. What the schedule decides by chance it may ask. */
export type OpenRaced = (schedule: Schedule) => Promise<Database>;

/** Runs every race in so many orders. */
export function describeRaces(name: string, open: OpenRaced, orders: number): void {
  describe(`races: ${name}`, () => {
    it.each(RACES)("$name", async (race) => {
      await using track = await openTrack(race, open);
      for (let seed = 0; seed < orders; seed += 1) {
        const fault = await track.run(seed);
        if (fault !== null) throw new Error(`order ${seed}: ${fault.message}`, { cause: fault });
      }
    });
  });
}

/** On one database, one order after the other, each with an account of its own. */
export async function openTrack(race: Race, open: OpenRaced) {
  const schedule = new Schedule();
  const database = await open(schedule);
  const worlds = await openWorlds(scheduled(database, schedule), race.environment ?? {});
  return {
    /** What was broken in this order, null: nothing. */
    run: (seed: number) => runOrder(race, schedule, worlds, seed),
    async [Symbol.asyncDispose]() {
      await worlds[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function runOrder(
  race: Race,
  schedule: Schedule,
  worlds: { next(): Promise<World> },
  seed: number,
): Promise<Error | null> {
  const world = await worlds.next();
  const { acts, holds } = await race.start(world);
  const outcomes = await schedule.run(seed, acts);
  const answers: unknown[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") return toError(outcome.reason);
    answers.push(outcome.value);
  }
  try {
    await holds?.(answers);
    await requireWhole(world);
    return null;
  } catch (error) {
    return toError(error);
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
