/** How far the client believes a generation, floor or base that one node shows (encryption design §7, pins). */
import type { Place } from "@coffer/crypto";
import { baseIn, baseOf, laterOf, raiseTo, toPlace } from "./pin-facts.ts";
import type { Candidate, Highest } from "./pins.ts";

/** A read so many milliseconds after a candidate was first shown, in any process, confirms it. */
export const CONFIRMED_AFTER_MS = 10_000;
/** Candidates of one vault; the lowest give way. */
const MOST_CANDIDATES = 8;

export type Numbers = Pick<Highest, "generation" | "floor" | "base">;

/** What a read of the vault object has shown. */
export interface Sight extends Numbers {
  /** The latest end in the place that it shows. */
  readonly after?: bigint;
  readonly plainNames: boolean;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly at: number;
  /** The witnesses of the network have shown the same. */
  readonly isWitnessed: boolean;
}

/**
 * For `changeHighest`. A number above all that was seen is a candidate at first, since a node may have made it up. A
 * witness confirms it, or a later read that shows as much. The client never goes back behind a confirmed one.
 */
export function withSight(sight: Sight): (kept: Highest) => Highest {
  const { generation, floor, at, isWitnessed } = sight;
  const place = laterOf(sight, { generation });
  return ({ candidates = [], ...kept }) => {
    // After the clock was set back, time begins to count again.
    const updated = candidates.map((each) => ({
      ...each,
      ...(each.generation === generation ? laterOf(each, sight) : {}),
      since: Math.min(each.since, at),
    }));
    const isConfirmed = (each: Candidate): boolean =>
      !isAbove(each, sight) && (isWitnessed || at - each.since >= CONFIRMED_AFTER_MS);
    const confirmed = [...updated.filter(isConfirmed), ...(isWitnessed ? [sight] : [])];
    // A time in the past is no claim: it counts at once, in a generation that was seen.
    const reached = kept.generation === generation ? laterOf(kept, sight) : {};
    const first = { ...kept, ...reached, plainNames: kept.plainNames ?? sight.plainNames };
    const highest = confirmed.reduce<Highest>((all, each) => raiseTo(each)(all), first);
    const isKnown = updated.some(
      (each) => each.generation === generation && each.floor === floor && baseIn(each) === baseIn(sight),
    );
    const open = [...updated, ...(isKnown ? [] : [{ ...place, floor, ...baseOf(sight), since: at }])]
      .filter((each) => isAbove(each, highest))
      .sort((one, other) => (isAbove(one, other) ? -1 : 1))
      .slice(0, MOST_CANDIDATES);
    return open.length === 0 ? highest : { ...highest, candidates: open };
  };
}

/**
 * For `changeHighest`: a statement was verified at this place. It proves nothing about generations that the chain has
 * not shown. Returns its argument if that is nothing new.
 */
export function withReached(place: Place): (kept: Highest) => Highest {
  const isNews = (seen: Pick<Highest, "generation" | "after">): boolean =>
    seen.generation === place.generation && toPlace(seen).after < place.after;
  return (kept) => {
    const { candidates = [] } = kept;
    if (![kept, ...candidates].some(isNews)) return kept;
    const raise = <Seen extends Candidate | Highest>(seen: Seen): Seen => (isNews(seen) ? { ...seen, ...place } : seen);
    return { ...raise(kept), ...(candidates.length > 0 && { candidates: candidates.map(raise) }) };
  };
}

/** Nothing is written below this: the highest number, confirmed or not. */
export function bindingOf({ candidates = [], ...highest }: Highest): Numbers {
  return candidates.reduce<Highest>((all, each) => raiseTo(each)(all), highest);
}

/** In one of its numbers at least. */
export function isAbove(one: Numbers, other: Numbers): boolean {
  return one.generation > other.generation || one.floor > other.floor || baseIn(one) > baseIn(other);
}

const FIELDS = ["generation", "after", "floor", "base", "since"] as const;

/** Whether the sight is nothing new, so that nothing has to be stored. */
export function isRecorded(sight: Sight, kept: Highest): boolean {
  const noted = withSight(sight)(kept);
  const [before, after] = [kept.candidates ?? [], noted.candidates ?? []];
  return (
    kept.plainNames !== undefined &&
    !isAbove(noted, kept) &&
    noted.after === kept.after &&
    before.length === after.length &&
    before.every((each, at) => {
      const other = after[at];
      return other !== undefined && FIELDS.every((field) => other[field] === each[field]);
    })
  );
}
