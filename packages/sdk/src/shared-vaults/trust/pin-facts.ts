/** Texts about pins and the highest numbers: separate from the stores, which come with the core. */
import { laterPlace, type Place } from "@coffer/crypto";
import type { Highest, VaultPin } from "./pins.ts";

export const NOTHING_SEEN: Highest = { generation: 0n, floor: 0n };

/** For `changeHighest`: each number as high as any process has seen it. */
export function raiseTo(seen: Pick<Highest, "generation" | "after" | "floor" | "base">): (kept: Highest) => Highest {
  return ({ after, base, ...kept }) => ({
    ...kept,
    ...laterOf({ ...kept, ...(after !== undefined && { after }) }, seen),
    floor: kept.floor > seen.floor ? kept.floor : seen.floor,
    ...baseOf({ base: baseIn({ base }) > baseIn(seen) ? base : seen.base }),
  });
}

/** 0 is stored as none. */
export function baseOf({ base }: { readonly base?: bigint | undefined }): Pick<Highest, "base"> {
  return base === undefined || base === 0n ? {} : { base };
}

export function baseIn({ base = 0n }: { readonly base?: bigint | undefined }): bigint {
  return base;
}

type Seen = Pick<Highest, "generation" | "after">;

/** The later of two places, as it is stored. */
export function laterOf(one: Seen, other: Seen): Seen {
  const { generation, after } = laterPlace(toPlace(one), toPlace(other));
  return after === 0n ? { generation } : { generation, after };
}

export function toPlace({ generation, after = 0n }: Seen): Place {
  return { generation, after };
}

/** For messages. */
export function describePin({ shared, chainObjectId, ownerAddress, chainId }: VaultPin): string {
  return shared
    ? `object ${chainObjectId ?? "none"} of ${ownerAddress ?? "none"} on chain ${chainId ?? "none"}`
    : "public";
}
