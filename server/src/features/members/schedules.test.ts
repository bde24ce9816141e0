/** Drawn schedules (a failure prints its seed) of clocks, ends and lagging reads: nobody is served past an end, and nobody live is refused for good. */
import { END_STEP } from "@coffer/contract";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addMember, addPerson, openSharedVault, type TestPerson } from "../shared-vaults/vaults.test-kit.ts";
import { codeOf, contextOf, openTestService } from "../service.test-kit.ts";
import { FRESHNESS } from "../reach/freshness.ts";
import { reportEnds } from "./ending.ts";

/** Milliseconds: both may be wrong in either direction. */
const MOST_SKEW = 30_000;

const step = fc.oneof(
  fc.record({
    act: fc.constant("pass" as const),
    by: fc.constantFrom(1, 250, 5_000, 10_000, 60_000, END_STEP - 1, END_STEP),
  }),
  fc.record({ act: fc.constant("skew" as const), by: fc.integer({ min: -MOST_SKEW, max: MOST_SKEW }) }),
  fc.record({ act: fc.constant("end" as const), by: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ act: fc.constant("endless" as const), by: fc.constant(0) }),
  fc.record({ act: fc.constant("add" as const), by: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ act: fc.constant("tell" as const), by: fc.constant(0) }),
);

/** The owner puts an end off on the chain alone, the later one passes too, and the member is added again before a job ran. */
const PUT_OFF_AND_PASSED = [
  { act: "end" as const, by: 1 },
  { act: "end" as const, by: 2 },
  { act: "pass" as const, by: END_STEP },
  { act: "pass" as const, by: END_STEP - 1 },
  { act: "add" as const, by: 0 },
];

test("in forty schedules nobody is served past an end, nobody live is refused for good, and each end is told once", async () => {
  await using service = await openTestService();
  const nextEnd = (steps: number): number =>
    (Math.floor((service.clock.now() + MOST_SKEW) / END_STEP) + steps) * END_STEP;
  const tell = () => reportEnds(service, new AbortController().signal);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
      service.chain.skew = 0;
      const shared = await openSharedVault(service);
      const person: TestPerson = await addPerson(service);
      await addMember(service, shared, person);
      const { objectId, vaultId } = shared;
      const { chainAddress, publicKey } = person;
      const input = { params: { vaultId }, query: {} };
      const ask = () => codeOf(service.handlers.vaultKeys.list(input, contextOf(person.principal)));
      let end: number | null = null;
      const isOver = (time: number): boolean => end !== null && end <= time;
      const chainTime = (): number => service.clock.now() + service.chain.skew;
      // What one node has shown another one may not have seen; the chain itself goes on.
      let reached = 0;
      const endsReached = new Set<string>();
      let membership = 0;
      const look = (): void => {
        reached = Math.max(reached, chainTime());
        if (isOver(reached)) endsReached.add(`${membership} ${end}`);
      };
      for (const { act, by } of steps) {
        look();
        if (act === "pass") service.clock.advance(by);
        else if (act === "skew") service.chain.skew = by;
        else if (act === "tell") await tell();
        else if (act === "add" && isOver(Math.min(chainTime(), service.clock.now()))) {
          // An end that was not told before the address is added again is not told any more.
          await tell();
          membership += 1;
          end = by === 0 ? null : nextEnd(by);
          service.chain.add(objectId, { address: chainAddress, signingKey: publicKey, endsAt: end });
          const body = { chainAddress, until: end === null ? null : new Date(end).toISOString() };
          const added = service.handlers.members.add({ params: { vaultId }, body }, contextOf(shared.owner.principal));
          expect(await codeOf(added)).toBe("ok");
        } else if ((act === "end" || act === "endless") && !isOver(reached)) {
          end = act === "endless" ? null : nextEnd(by);
          service.chain.setUntil(objectId, chainAddress, end);
        }
        look();
        const over = isOver(Math.max(service.clock.now(), chainTime()));
        service.clock.advance(FRESHNESS.authorising);
        const isStillOver = isOver(Math.max(service.clock.now(), chainTime()));
        const answer = await ask();
        if (over) expect([act, answer]).toEqual([act, "membership_ended"]);
        else if (!isStillOver) expect([act, answer]).toEqual([act, "ok"]);
      }
      // The service's clock reaches what the chain's has reached.
      service.chain.skew = 0;
      service.clock.advance(MOST_SKEW);
      await tell();
      look();
      const { build } = service.database;
      const query = build.selectFrom("changes").select("id").where("action", "=", "vault.member_ended");
      const told = await service.database.all(query.where("account_id", "=", shared.owner.principal.accountId));
      expect(told).toHaveLength(endsReached.size);
    }),
    { numRuns: 40, examples: [[PUT_OFF_AND_PASSED]] },
  );
});
