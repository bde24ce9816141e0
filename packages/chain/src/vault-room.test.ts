import { expect, it } from "vitest";
import { countRoom } from "./vault-room.ts";

const FULL = 1800;
const FLOOR = 10n;

/** Entries of before the floor and of after it, `count` of each in turn. */
function vaultOf(counts: readonly { void?: number; live?: number }[], oldest = 0) {
  const untils = counts.flatMap(({ void: below = 0, live = 0 }) => [
    ...Array.from({ length: below }, () => FLOOR - 1n),
    ...Array.from({ length: live }, () => FLOOR),
  ]);
  const entry = { chainAddress: `0x${"0".repeat(64)}`, signingKey: new Uint8Array(32), since: 1n, endsAt: 5n };
  return { former: untils.map((until) => ({ ...entry, until })), floor: FLOOR, oldest: BigInt(oldest) };
}

/** Closes entries as the Move module does, and counts those before the first that still counted was overwritten. */
function closeUntilLost({ former, floor, oldest }: ReturnType<typeof vaultOf>): number {
  const ring: bigint[] = former.map(({ until }) => until);
  let first = Number(oldest);
  for (let closed = 0; ; closed += 1) {
    if (ring.length < FULL) {
      ring.push(floor);
      continue;
    }
    for (let ahead = 0; ahead < 64; ahead += 1) {
      const at = (first + ahead) % FULL;
      const [there = 0n, old = 0n] = [ring[at], ring[first]];
      if (there >= floor) continue;
      [ring[first], ring[at]] = [there, old];
      break;
    }
    if ((ring[first] ?? 0n) >= floor) return closed;
    ring[first] = floor;
    first = (first + 1) % FULL;
  }
}

it.each([
  ["nothing yet", vaultOf([]), FULL],
  ["entries that count", vaultOf([{ live: 1500 }]), 300],
  ["a full ring", vaultOf([{ live: FULL }], 17), 0],
  ["a full ring whose entries are all below the floor", vaultOf([{ void: FULL }], 900), FULL],
  ["the oldest below the floor", vaultOf([{ void: 1000, live: 500 }]), 1300],
  ["those swept last below the floor, which nobody finds", vaultOf([{ live: 800, void: 0 }, { void: 1000 }]), 0],
  ["those below the floor at the last place that is looked at", vaultOf([{ live: 63 }, { void: 5, live: 1732 }]), 5],
  ["those below the floor one place beyond", vaultOf([{ live: 64 }, { void: 5, live: 1731 }]), 0],
  ["those below the floor behind the end of the list", vaultOf([{ void: 30, live: 1770 }], 1790), 30],
])("counts the entries that a vault can still close, with %s", (_, vault, room) => {
  expect([countRoom(vault), closeUntilLost(vault)]).toEqual([room, room]);
});

it("counts right when the object names no valid place of the oldest entry", () => {
  expect(countRoom({ ...vaultOf([{ live: 3 }]), oldest: (1n << 64n) - 1n })).toBe(FULL - 3);
});
