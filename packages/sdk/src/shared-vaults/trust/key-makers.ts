/**
 * Whose vault keys this machine believes (encryption design §9.1): its own, and those of members whom it has seen on the
 * list for a while. One node may make a member up.
 */
import { encodePlace, type Place, type VaultKeyRecord } from "@coffer/crypto";
import { toHex } from "../../transfer/digest.ts";
import { CONFIRMED_AFTER_MS } from "./sight-rules.ts";
import type { Highest, SeenMaker } from "./pins.ts";

/** Makers remembered for one vault; those of the lowest generations give way. */
const MOST_MAKERS = 64;
/** Keys remembered for one vault; the oldest give way. A rotation needs the few of its own time. */
const MOST_MADE = 64;

/** A maker of a key, on the list of a generation. */
export type MakerSight = Pick<VaultKeyRecord, "generation" | "maker">;

/** For `changeHighest`: a read of the vault has shown the maker. Returns its argument if that is nothing new. */
export function withMaker(sight: MakerSight, at: number): (kept: Highest) => Highest {
  const seen = { generation: sight.generation, address: toHex(sight.maker), since: at };
  return (kept) => {
    const { makers = [] } = kept;
    const earlier = makers.find((each) => isSame(each, seen));
    // After the clock was set back, time begins to count again.
    if (earlier !== undefined && earlier.since <= at) return kept;
    const all = [...makers.filter((each) => each !== earlier), seen];
    all.sort((one, other) => (one.generation < other.generation ? 1 : one.generation > other.generation ? -1 : 0));
    return { ...kept, makers: all.slice(0, MOST_MAKERS) };
  };
}

/** Whether some process of this machine saw the maker on the list in that generation long enough ago. */
export function isMakerSeen({ makers = [] }: Highest, { generation, maker }: MakerSight, now: number): boolean {
  const address = toHex(maker);
  return makers.some((each) => isSame(each, { generation, address }) && now - each.since >= CONFIRMED_AFTER_MS);
}

/** For `changeHighest`: this client is about to publish a key of its own. */
export function withOwnKey(name: string): (kept: Highest) => Highest {
  return (kept) => {
    const { made = [] } = kept;
    return made.includes(name) ? kept : { ...kept, made: [...made, name].slice(-MOST_MADE) };
  };
}

/** A key's place and `check` in hex: what the maker's own note names it by. */
export function nameOfKey(key: Place & { readonly check: Uint8Array }): string {
  return `${toHex(encodePlace(key))}${toHex(key.check)}`;
}

type Named = Pick<SeenMaker, "generation" | "address">;

function isSame(one: Named, other: Named): boolean {
  return one.generation === other.generation && one.address === other.address;
}
