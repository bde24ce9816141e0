import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RACES } from "../../races/races.test-kit.ts";
import { openTestSqlite } from "../../storage.test-kit.ts";
import type { Database } from "../../ports/database.ts";
import { openReadCommitted, type Weakness } from "./read-committed.test-kit.ts";
import { describeRaces, openTrack, type OpenRaced } from "../../../../test/suites/database-races.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
/** Of each race; thousands in all with full counts. */
const ORDERS = FULL ? 150 : 4;
/** A weak database breaks each race that bites in one of so many orders, mostly in the first. */
const ORDERS_TO_BITE = 60;

async function inDirectory(open: (directory: string) => Promise<Database>): Promise<Database> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-races-"));
  const database = await open(directory);
  const close = database[Symbol.asyncDispose].bind(database);
  database[Symbol.asyncDispose] = async () => {
    await close();
    await rm(directory, { recursive: true });
  };
  return database;
}

function sideBySide(weakness: Weakness | null): OpenRaced {
  return (schedule) =>
    inDirectory(async (directory) => {
      await (await openTestSqlite(directory))[Symbol.asyncDispose]();
      return openReadCommitted(join(directory, "coffer.sqlite"), { weakness, fails: () => schedule.chance(0.1) });
    });
}

describeRaces("SQLite", () => inDirectory(openTestSqlite), FULL ? 20 : 1);
describeRaces("side by side at READ COMMITTED", sideBySide(null), ORDERS);

describe("races on a database that is too weak", () => {
  it.each(RACES)("$bites: $name", async (race) => {
    const isRed = race.bites === "early" || race.bites === "unlocked";
    await using track = await openTrack(race, sideBySide(isRed ? race.bites : "early"));
    const orders = isRed ? ORDERS_TO_BITE : ORDERS;
    let fault: Error | null = null;
    for (let seed = 0; fault === null && seed < orders; seed += 1) fault = await track.run(seed);
    if (isRed) expect(fault, "nothing shows that this is a race").not.toBeNull();
    else expect(fault).toBeNull();
  });
});
