/**
 * Rights that the owner gave from this machine, by transactions that a chain node may have held back (encryption design
 * §9.2). Each is noted before it is sent. While it may still be executed, taking the right away is a transaction of its
 * own, even where the vault shows no such right. That makes the one that was held back void.
 */
import { ChainError, mayStillRun, type OwnerActOptions, type VaultAct } from "@coffer/chain";
import type { GivenRight } from "../trust/pins.ts";
import type { VaultRegistry } from "../vault-registry.ts";

/**
 * No transaction is valid for more than two epochs, of a day each. A node could name any epoch, so this machine's clock
 * counts alone.
 */
const VALID_MS = 3 * 24 * 60 * 60 * 1000;

/** What an act of the owner gives or takes away. */
export type Right =
  /** A membership, or a part of its time. Taking it away takes an offer to the address as well. */
  | { readonly of: "member"; readonly chainAddress: string }
  /** The ownership, which is offered; null: the offer is withdrawn. */
  | { readonly of: "ownership"; readonly chainAddress: string | null };

/** Runs one act of the owner with what is known of those before it, and keeps what is known after it. */
export async function actOnRight(
  registry: Pick<VaultRegistry, "chain" | "pins" | "clock">,
  objectId: string,
  right: Right,
  act: (options: OwnerActOptions) => Promise<VaultAct>,
): Promise<VaultAct> {
  const { chain, pins, clock } = registry;
  const change = (by: (given: readonly GivenRight[]) => readonly GivenRight[]): Promise<unknown> =>
    pins.changeHighest(objectId, ({ given = [], ...kept }) => {
      const changed = by(given.filter((each) => isValid(each, clock())));
      return changed.length === 0 ? kept : { ...kept, given: changed };
    });
  const { given: kept = [] } = await pins.loadHighest(objectId);
  const valid = kept.filter((each) => isValid(each, clock()));
  let isRecorded = kept.length > 0;
  const updateRecorded = async (by: (given: readonly GivenRight[]) => readonly GivenRight[]): Promise<void> => {
    if (isRecorded) await change(by);
  };
  const unknown = valid.find((given) => !given.isAnswered && isSame(given, right));
  const options: OwnerActOptions = {
    earlierGrants: valid.filter((given) => isTakenWith(given, right)).map(({ last }) => last),
    // At most one of that attempt and this one is executed.
    ...(unknown !== undefined && { last: unknown.last }),
    beforeGiving: async (last) => {
      isRecorded = true;
      await change((given) => [...given, newlyGiven(right, last, clock())]);
    },
  };
  try {
    const { outcome, vault, ...rest } = await act(options);
    // The next one comes after an act that was done, and names that one.
    const isAnswered = (each: GivenRight): boolean => outcome === "done" || isSame(each, right);
    await updateRecorded((given) =>
      given.filter(({ last }) => mayStillRun(chain, vault, last)).map(answer(isAnswered)),
    );
    return { outcome, vault, ...rest };
  } catch (error) {
    // The vault has moved on. What its user repeats then is a new act, and names what the vault shows.
    if (error instanceof ChainError && error.code === "act_outdated")
      await updateRecorded((given) => given.map(answer((each) => isSame(each, right))));
    throw error;
  }
}

function isValid({ since }: GivenRight, now: number): boolean {
  return now - since < VALID_MS;
}

function newlyGiven({ of, chainAddress }: Right, last: string, since: number): GivenRight {
  if (chainAddress === null) throw new TypeError("nobody is given a right by taking one back");
  return { of, chainAddress, last, since, isAnswered: false };
}

/** Whether giving the one takes the place of giving the other: there is one offer, and one entry of an address. */
function isSame(given: GivenRight, { of, chainAddress }: Right): boolean {
  return given.of === of && (of === "ownership" || given.chainAddress === chainAddress);
}

function isTakenWith(given: GivenRight, { of, chainAddress }: Right): boolean {
  return of === "member" ? given.chainAddress === chainAddress : given.of === "ownership";
}

function answer(isAnswered: (given: GivenRight) => boolean): (given: GivenRight) => GivenRight {
  return (given) => (isAnswered(given) ? { ...given, isAnswered: true } : given);
}
