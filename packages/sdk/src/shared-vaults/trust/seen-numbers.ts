/**
 * Compares the chain node's answers with everything that any process of this machine has seen, and writes with
 * everything merely shown.
 */
import type { VaultObject } from "@coffer/chain";
import { isReached, laterPlace, placeOf, type Place, type VaultView } from "@coffer/crypto";
import { generationMoved } from "../service-view.ts";
import { bindingOf, isAbove, isRecorded, withReached, withSight, type Numbers, type Sight } from "./sight-rules.ts";
import { isMakerSeen, withOwnKey, withMaker, type MakerSight } from "./key-makers.ts";
import { baseIn, raiseTo, toPlace } from "./pin-facts.ts";
import type { Highest, VaultPin } from "./pins.ts";
import type { VaultSession } from "../session.ts";
import { vaultError } from "../vault-error.ts";
import { type VaultError } from "../../http/errors.ts";

/** Longest time for which another process's sight goes unread, in milliseconds: a list asks for each of its items. */
const INTERVAL_MS = 1_000;
/** The most digits of a generation at the service: 15. */
const MOST_GENERATIONS = 10n ** 15n - 1n;

const NOWHERE: Place = { generation: 0n, after: 0n };

export interface SeenNumbers {
  /** The confirmed state: nothing below it is read. */
  confirmed(): Promise<Highest>;
  /**
   * Stores what a read has shown, once for each read.
   * @throws VaultError `vault_changed` when names are plain now and were not, or the reverse.
   */
  record(vault: VaultObject, view: VaultView): Promise<void>;
  /**
   * For writers: the view must be above everything confirmed and not below anything that any process was shown. `read`
   * reads it again if it is a candidate itself: a node may have made it up a moment ago.
   * @throws VaultError `rolled_back`; `generation_moved` for a view that is not the newest.
   */
  requireNewest(view: VaultView, read: () => Promise<VaultView>): Promise<void>;
  /**
   * The place where a client writes by this view. It is the view's place, or the highest that any process was shown or
   * has seen signed, if its time has come. An end that was extended at the last moment takes the view's place back,
   * although somebody may have written at the later one.
   */
  writingPlace(view: VaultView): Promise<Place>;
  /**
   * Whether a witness, or a read at least ten seconds earlier, has shown this base. By a lower one that a node makes
   * up, a new key would lead to keys of before a rotation.
   */
  isBaseConfirmed(view: VaultView): Promise<boolean>;
  /** A read has shown the makers of these records as members of their generation. */
  recordMakers(makers: readonly MakerSight[]): Promise<void>;
  /** Whether a witness, or a sight of at least ten seconds ago, confirms that the maker is on the list there. */
  isMakerConfirmed(maker: MakerSight): Promise<boolean>;
  /** Before a key of this client's own is published; durable when it resolves. */
  recordMade(name: string): Promise<void>;
  /** Whether this machine has made it, by its own note. */
  isMade(name: string): Promise<boolean>;
  /** For a verified statement: all processes of this machine write no lower from then on. Does not fail; a writer repeats it. */
  recordSigned(place: Place): void;
}

export function openSeenNumbers(session: VaultSession, { vaultId, chainObjectId }: VaultPin): SeenNumbers {
  const { chain, pins, clock } = session;
  const objectId = chainObjectId ?? "";
  const isWitnessed = (chain.network.witnessUrls ?? []).length > 0;
  let cached: { readonly highest: Highest; readonly at: number } | null = null;
  let notes = new WeakMap<VaultObject, Promise<void>>();
  let keeping: Promise<unknown> | null = null;
  let signed = NOWHERE;
  /** A candidate that a read of its own has shown again, and when that began. */
  let shownAgain: ShownAgain | null = null;
  const keep = (highest: Highest): Highest => {
    // Only a user's decision lowers the stored state: then this process's own sight counts no more either.
    if (cached !== null && isAbove(bindingOf(cached.highest), bindingOf(highest))) {
      chain.forgetVault(objectId);
      notes = new WeakMap();
      signed = NOWHERE;
      shownAgain = null;
    }
    cached = { highest, at: performance.now() };
    return highest;
  };
  const load = async (): Promise<Highest> => keep(await pins.loadHighest(objectId));
  const isKept = ({ highest }: { readonly highest: Highest }): boolean => withReached(signed)(highest) === highest;
  const change = async (by: (seen: Highest) => Highest) => keep(await pins.changeHighest(objectId, by));
  const keepSigned = async (): Promise<void> => {
    // The change that is on its way may have begun before the newest place was signed. So a second one may follow it.
    for (let attempt = 0; attempt < 2 && (cached === null || !isKept(cached)); attempt += 1)
      await (keeping ??= change(withReached(signed)).finally(() => (keeping = null)));
  };
  return {
    confirmed: () =>
      cached !== null && performance.now() - cached.at < INTERVAL_MS ? Promise.resolve(cached.highest) : load(),
    record: (vault, view) =>
      beginOnce(notes, vault, async () => {
        const sight = { ...sightOf(vault, view), at: clock(), isWitnessed };
        const seen = await load();
        const highest = isRecorded(sight, seen) ? seen : await change(withSight(sight));
        if (highest.plainNames !== vault.plainNames) throw otherNames(vaultId, vault.plainNames);
      }),
    requireNewest: async (view, read) => {
      if (isSame(view, await load()) || isEnough(shownAgain, view, signed))
        return requireBinding(session, vaultId, objectId, view);
      const at = performance.now();
      const now = await read();
      await requireBinding(session, vaultId, objectId, now);
      if (!isSame(view, now)) throw generationMoved();
      shownAgain = { generation: now.generation, floor: now.floor, base: now.base, at };
    },
    writingPlace: async (view) => {
      await keepSigned();
      const { candidates = [], ...highest } = await load();
      const seen = [highest, ...candidates].map(toPlace);
      const isNow = (place: Place) => place.generation === view.generation && isReached(view, place);
      return seen.filter(isNow).reduce(laterPlace, placeOf(view));
    },
    ...keysOf({ load, change, clock, isWitnessed }),
    recordSigned: (place) => {
      if (laterPlace(signed, place) === signed) return;
      signed = place;
      keepSigned().catch(() => undefined);
    },
  };
}

function sightOf(
  { generation, floor, base, plainNames }: VaultObject,
  view: VaultView,
): Omit<Sight, "at" | "isWitnessed"> {
  return { ...placeOf(view), generation, floor, base, plainNames };
}

interface Memory {
  readonly load: () => Promise<Highest>;
  readonly change: (by: (seen: Highest) => Highest) => Promise<Highest>;
  readonly clock: () => number;
  readonly isWitnessed: boolean;
}

type KeyNumbers = Pick<SeenNumbers, "isBaseConfirmed" | "recordMakers" | "isMakerConfirmed" | "recordMade" | "isMade">;

/** What decides under which vault keys this client writes. */
function keysOf({ load, change, clock, isWitnessed }: Memory): KeyNumbers {
  return {
    recordMakers: async (makers) => {
      for (const maker of makers) {
        const note = withMaker(maker, clock());
        const seen = await load();
        if (note(seen) !== seen) await change(note);
      }
    },
    isMakerConfirmed: async (maker) => isWitnessed || isMakerSeen(await load(), maker, clock()),
    recordMade: async (name) => {
      await change(withOwnKey(name));
    },
    isMade: async (name) => ((await load()).made ?? []).includes(name),
    isBaseConfirmed: async (view) => baseIn(await load()) === view.base,
  };
}

/** Calls for many files share what one began: each would wait for the lock of the pins by itself. A failure is not kept. */
function beginOnce(
  begun: WeakMap<VaultObject, Promise<void>>,
  vault: VaultObject,
  begin: () => Promise<void>,
): Promise<void> {
  const running = begun.get(vault);
  if (running !== undefined) return running;
  const now = begin();
  begun.set(vault, now);
  now.catch(() => begun.delete(vault));
  return now;
}

interface ShownAgain extends Numbers {
  /** By a clock that nobody sets, in milliseconds. */
  readonly at: number;
}

/**
 * For a second, and only after the service has accepted a statement of that generation, or one was verified. There is
 * none of a generation that a node made up.
 */
function isEnough(again: ShownAgain | null, view: Numbers, signed: Place): boolean {
  if (again === null || !isSame(view, again) || signed.generation !== view.generation) return false;
  return performance.now() - again.at < INTERVAL_MS;
}

function isSame(one: Numbers, other: Numbers): boolean {
  return one.generation === other.generation && one.floor === other.floor && baseIn(one) === baseIn(other);
}

/**
 * @throws VaultError `rolled_back` for numbers below anything that any process was shown, or that no vault has:
 * nothing is written by them.
 */
export async function requireBinding(
  { chain, pins }: VaultSession,
  vaultId: string,
  objectId: string,
  { generation, floor, base }: Required<Numbers>,
): Promise<void> {
  const stored = bindingOf(await pins.loadHighest(objectId));
  const newest = chain.newestShown(objectId);
  const binding = newest === null ? stored : raiseTo(newest)(stored);
  // The package raises no floor and no base above the generation, and the generation by one at a time.
  const isMadeUp = floor > generation || base > generation || generation > MOST_GENERATIONS;
  if (!isMadeUp && !isAbove(binding, { generation, floor, base })) return;
  const what = isMadeUp
    ? "which no vault has: nothing is written by that"
    : `and ${describe(binding)} was shown before: nothing is written below that`;
  const message = `The chain node shows the vault in ${describe({ generation, floor, base })}, ${what}`;
  throw vaultError("rolled_back", message, { nextStep: healingStep(vaultId) });
}

function describe(numbers: Numbers): string {
  return `generation ${numbers.generation} with floor ${numbers.floor} and base ${baseIn(numbers)}`;
}

/** The kind of names never changes on the chain. A node that says otherwise wants names sent unencrypted. */
function otherNames(vaultId: string, plainNames: boolean): VaultError {
  const [before, now] = plainNames ? ["encrypts", "does not"] : ["did not encrypt", "does"];
  const message = `The chain showed before that the vault ${before} names, and a node shows now that it ${now}`;
  return vaultError("vault_changed", message, {
    nextStep: `Repeat it, or name another chain node. If the owner of ${vaultId} confirms that the earlier state was false, call vaults.trust, then repeat it.`,
  });
}

/** What a user does if a node has lied, or lies now. */
export function healingStep(vaultId: string): string {
  return `Repeat it, or name another chain node. If the vault's owner or another node confirms that the earlier state was false, call vaults.forgetSeen("${vaultId}") or vaults.trust, then repeat it.`;
}

/**
 * Forgets what any process was shown of the vault object, because its user says so. It keeps which keys this machine has
 * made: nobody showed it those. It keeps whether the vault encrypts names, unless the user has the vault from its owner
 * (`isTold`). Otherwise a user who heals a node's lie would let that node get the next name unencrypted.
 */
export async function forgetNumbers(
  { chain, pins }: VaultSession,
  chainObjectId: string,
  isTold = false,
): Promise<void> {
  chain.forgetVault(chainObjectId);
  await pins.changeHighest(chainObjectId, ({ plainNames, given, made }) => ({
    generation: 0n,
    floor: 0n,
    // What was sent may still be executed, whatever the node says.
    ...(given !== undefined && { given }),
    ...(plainNames !== undefined && !isTold && { plainNames }),
    ...(made !== undefined && { made }),
  }));
}
