/**
 * What leases must do over every driver of the database port. The suite knows no dialect. Leases go by the clock of the database, which
 * no test can set: those that must run out have a short lifetime, and all others one that no slow machine reaches.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "@coffer/server/ports/database";
import { migrate } from "@coffer/server/schema/migrate";
import {
  countHeld,
  LEASE_TIMES,
  type Leases,
  type LeaseTimes,
  openLeases,
  releaseEnded,
  removeUnused,
} from "@coffer/server/ports/leases";
import { CLOCK_SLACK } from "@coffer/server/ports/stored-ends";
import { systemClock } from "@coffer/server/ports/clock";
import { systemRandom } from "@coffer/server/ports/random";
import { afterEach, describe, expect, it, vi } from "vitest";
import { databaseTests, type OpenMedium } from "./database-fixture.ts";

/** Never renewed by itself. */
const TIMES: LeaseTimes = { lifetime: 600_000, renewEvery: 600_000, margin: 100 };
const SHORT = { lifetime: 150 };
/** A short lease is over. */
const OVER = SHORT.lifetime + TIMES.margin + 50;

const holderOn = (database: Database, times: Partial<LeaseTimes> = {}): Leases =>
  openLeases({ database, clock: systemClock, random: systemRandom }, { ...TIMES, ...times });

async function take(leases: Leases, name = "work") {
  const lease = await leases.acquire(name);
  if (lease === null) throw new Error(`${name} is taken`);
  return lease;
}

export function describeLeases(openMedium: OpenMedium): void {
  const test = databaseTests(openMedium);

  describe("leases", () => {
    afterEach(() => void vi.useRealTimers());

    test("have one holder for each name, and are free once released", async (database) => {
      const [one, other] = [holderOn(database), holderOn(database)];
      const lease = await take(one);
      expect(await other.acquire("work")).toBeNull();
      expect(await other.isHeld(database, "work")).toBe(true);
      expect(await other.isHeld(database, "other work")).toBe(false);
      expect(await one.acquire("work")).toBeNull();
      await take(other, "other work");
      expect(await lease.release()).toBe(true);
      expect(await other.isHeld(database, "work")).toBe(false);
      const next = await take(other);
      expect(next.takenOver).toBe(false);
      expect(next.fence).toBeGreaterThan(lease.fence);
    });

    it("have one holder of fifty that ask at once, through three connections", async () => {
      await using medium = await openMedium();
      await using first = await medium.open();
      await migrate(first);
      await using second = await medium.open();
      await using third = await medium.open();
      for (let round = 0; round < 20; round += 1) {
        const asked = Array.from({ length: 50 }, (_, at) =>
          holderOn([first, second, third][at % 3] ?? first, { lifetime: 60_000 }).acquire(`round ${String(round)}`),
        );
        const held = (await Promise.all(asked)).filter((lease) => lease !== null);
        expect(held).toHaveLength(1);
      }
    });

    test("run out when they are not renewed, after their margin, and the next holder learns of it", async (database) => {
      const lease = await take(holderOn(database, SHORT));
      await pause(SHORT.lifetime + 20);
      expect(await holderOn(database, { margin: 60_000 }).acquire("work")).toBeNull();
      await pause(OVER);
      expect(await holderOn(database).isHeld(database, "work")).toBe(false);
      const next = await take(holderOn(database));
      expect(next).toMatchObject({ takenOver: true, fence: lease.fence + 1 });
      expect(await lease.renew()).toBe(false);
      expect(lease.signal.aborted).toBe(true);
      expect(await lease.release()).toBe(false);
      expect(await holderOn(database).acquire("work")).toBeNull();
      await next.release();
      expect((await take(holderOn(database))).takenOver).toBe(false);
    });

    test("are renewed by themselves, until they are abandoned", async (database) => {
      const end = async (): Promise<number> =>
        (await database.all(database.build.selectFrom("leases").select("until")))[0]?.until ?? 0;
      const lease = await take(holderOn(database, { renewEvery: 10 }));
      const first = await end();
      await vi.waitFor(async () => expect(await end()).toBeGreaterThan(first), { timeout: 30_000 });
      expect(await holderOn(database).acquire("work")).toBeNull();
      lease.abandon();
      expect(lease.signal.aborted).toBe(false);
      // A renewal may have been under way, and takes its time on a busy machine.
      const isUnchanged = async (): Promise<void> => {
        const last = await end();
        await pause(50);
        expect(await end()).toBe(last);
      };
      await vi.waitFor(isUnchanged, { timeout: 30_000 });
    });

    test("tell the next holder that the one before was abandoned", async (database) => {
      (await take(holderOn(database, SHORT))).abandon();
      await pause(OVER);
      expect((await take(holderOn(database))).takenOver).toBe(true);
    });

    test("fence a transaction: a holder that was replaced writes nothing", async (database) => {
      const stale = await take(holderOn(database, { lifetime: 1_000 }));
      const writeUnder = (lease: typeof stale, id: string) =>
        database.transaction(async (transaction) => {
          await transaction.run(
            transaction.build
              .insertInto("blob_deletions")
              .values({ blob_key: id, not_before: 0, account_id: null, bytes: 0, reason: "upload" }),
          );
          if (!(await lease.renew(transaction))) throw new Error("fenced off");
        });
      await writeUnder(stale, "held-held");
      await pause(1_000 + TIMES.margin + 50);
      const next = await take(holderOn(database));
      await expect(writeUnder(stale, "stale-stale")).rejects.toThrow("fenced off");
      await writeUnder(next, "next-next");
      const rows = await database.all(database.build.selectFrom("blob_deletions").select("blob_key"));
      expect(rows.map((row) => row.blob_key).toSorted()).toEqual(["held-held", "next-next"]);
    });

    test("that end later than any can count as over: the clock was ahead, and the next holder has a higher fence", async (database) => {
      const later = (milliseconds: number) =>
        database.run(database.build.updateTable("leases").set((row) => ({ until: row("until", "+", milliseconds) })));
      const lease = await take(holderOn(database));
      await later(48 * 3_600_000);
      expect(await holderOn(database).isHeld(database, "work")).toBe(false);
      expect(await countHeld(database)).toBe(0);
      const next = await take(holderOn(database));
      expect(next).toMatchObject({ takenOver: true, fence: lease.fence + 1 });
      const isHeld = (each: typeof lease) => database.transaction((transaction) => each.isHeldIn(transaction));
      expect([await isHeld(lease), await isHeld(next)]).toEqual([false, true]);
      expect(lease.signal.aborted).toBe(true);
      // A clock that is corrected by a little takes nobody's lease away.
      await later(CLOCK_SLACK / 2);
      expect(await holderOn(database).acquire("work")).toBeNull();
    });

    test("that end too late are their holder's as long as nobody else has asked", async (database) => {
      const lease = await take(holderOn(database));
      await database.run(database.build.updateTable("leases").set({ until: 8_000_000_000_000 }));
      expect(await lease.renew()).toBe(true);
      expect(await holderOn(database).acquire("work")).toBeNull();
    });

    test("fence transactions that run side by side, until these have ended", async (database) => {
      const lease = await take(holderOn(database, { lifetime: 300 }));
      const steps: string[] = [];
      const under = async (name: string) => {
        await database.transaction(async (transaction) => {
          if (!(await lease.isHeldIn(transaction))) return void steps.push(`${name} is fenced off`);
          await transaction.all(transaction.build.selectFrom("leases").select("name"));
          steps.push(`${name} writes`);
        });
      };
      await Promise.all([under("one"), under("other")]);
      expect(steps.toSorted()).toEqual(["one writes", "other writes"]);
      await pause(300 + TIMES.margin + 50);
      await take(holderOn(database));
      await under("late");
      expect(steps.at(-1)).toBe("late is fenced off");
    });

    test("go by the clock of the database, whatever the process believes", async (database) => {
      const lease = await take(holderOn(database, { lifetime: 60_000 }));
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
      expect(await holderOn(database).acquire("work")).toBeNull();
      expect(await lease.renew()).toBe(true);
    });

    test("count as lost for a holder that cannot renew them, before anybody else may have them", async (database) => {
      const broken = { ...database, transaction: database.transaction.bind(database) };
      const lease = await take(holderOn(broken, { ...SHORT, renewEvery: 40, margin: 60_000 }));
      broken.transaction = () => Promise.reject(new Error("no connection"));
      await vi.waitFor(() => expect(lease.signal.aborted).toBe(true), { timeout: 30_000 });
      expect(await holderOn(database, { margin: 60_000 }).acquire("work")).toBeNull();
    });

    test("leave no row once they were not used for long", async (database) => {
      for (let at = 0; at < 250; at += 1) await (await take(holderOn(database, SHORT), String(at))).release();
      await take(holderOn(database, { lifetime: 60_000 }));
      expect(await removeUnused(database, 60_000)).toBe(0);
      await pause(OVER);
      // Two that choose the same rows remove them once.
      const removed = await Promise.all([1, 2, 3].map(() => removeUnused(database, 0)));
      for (let more = 1; more > 0; removed.push(more)) more = await removeUnused(database, 0);
      expect(removed.reduce((sum, count) => sum + count)).toBe(250);
      expect(await holderOn(database).acquire("work")).toBeNull();
    });

    test("of ended processes are released at once, and nobody's after them", async (database) => {
      const day = 86_400_000;
      await take(holderOn(database, { lifetime: day }), "later");
      // Of an earlier process there is no lease that ends later than one taken just before the start.
      await take(holderOn(database, { lifetime: LEASE_TIMES.lifetime - 10_000 }));
      await releaseEnded(database, Date.now());
      expect(await holderOn(database, { lifetime: day }).acquire("later")).toBeNull();
      expect((await take(holderOn(database))).takenOver).toBe(false);
    });
  });
}
