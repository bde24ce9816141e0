/** What is said of pins and of what was seen highest: apart from the stores, which come with the core. */
import type { Highest, VaultPin } from "./pins.ts";

export const NOTHING_SEEN: Highest = { generation: 0n, floor: 0n };

/** For `changeHighest`: each number as high as any process has seen it. */
export function raiseTo(seen: Pick<Highest, "generation" | "floor">): (kept: Highest) => Highest {
  return (kept) => ({
    ...kept,
    generation: kept.generation > seen.generation ? kept.generation : seen.generation,
    floor: kept.floor > seen.floor ? kept.floor : seen.floor,
  });
}

/** For messages. */
export function describePin({ shared, chainObjectId, ownerAddress, chainId }: VaultPin): string {
  return shared
    ? `object ${chainObjectId ?? "none"} of ${ownerAddress ?? "none"} on chain ${chainId ?? "none"}`
    : "public";
}
