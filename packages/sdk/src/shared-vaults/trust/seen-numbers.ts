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
import type { VaultRegistry } from "../vault-registry.ts";
import { vaultError } from "../vault-error.ts";
import { type VaultError } from "../../http/errors.ts";

/** Longest time for which another process's sight goes unread, in milliseconds: a list asks for each of its items. */
const INTERVAL_MS = 1_000;
/** The most digits of a generation at the service: 15. */
const MOST_GENERATIONS = 10n ** 15n - 1n;

const NOWHERE: Place = { generation: 0n, after: 0n };

/** A vault's numbers as the chain's nodes have shown them to any process of this machine. */
export class SeenNumbers {
  readonly #registry: VaultRegistry;
  readonly #vaultId: string;
  readonly #objectId: string;
  readonly #isWitnessed: boolean;
  /** What the store held when it was last read, and when: by a clock that nobody sets, in milliseconds. */
  #cached: { readonly highest: Highest; readonly at: number } | null = null;
  /** By read of the vault object: whether it is recorded. */
  #recorded = new WeakMap<VaultObject, Promise<void>>();
  /** The highest place of a verified statement, and its way into the store. */
  #signed = NOWHERE;
  #storing: Promise<unknown> | null = null;
  /** A candidate that a read of its own has shown again, and when that began. */
  #shownAgain: ShownAgain | null = null;

  constructor(registry: VaultRegistry, { vaultId, chainObjectId }: VaultPin) {
    this.#registry = registry;
    this.#vaultId = vaultId;
    this.#objectId = chainObjectId ?? "";
    this.#isWitnessed = (registry.chain.network.witnessUrls ?? []).length > 0;
  }

  /** The confirmed state: nothing below it is read. */
  confirmed(): Promise<Highest> {
    const cached = this.#cached;
    if (cached !== null && performance.now() - cached.at < INTERVAL_MS) return Promise.resolve(cached.highest);
    return this.#load();
  }

  /**
   * Stores what a read has shown, once for each read.
   * @throws VaultError `vault_changed` when names are plain now and were not, or the reverse.
   */
  record(vault: VaultObject, view: VaultView): Promise<void> {
    return startOnce(this.#recorded, vault, async () => {
      const sight = { ...sightOf(vault, view), at: this.#registry.clock(), isWitnessed: this.#isWitnessed };
      const seen = await this.#load();
      const highest = isRecorded(sight, seen) ? seen : await this.#change(withSight(sight));
      if (highest.plainNames !== vault.plainNames) throw otherNames(this.#vaultId, vault.plainNames);
    });
  }

  /**
   * For writers: the view must be above everything confirmed and not below anything that any process was shown. `read`
   * reads it again if it is a candidate itself: a node may have made it up a moment ago.
   * @throws VaultError `rolled_back`; `generation_moved` for a view that is not the newest.
   */
  async requireNewest(view: VaultView, read: () => Promise<VaultView>): Promise<void> {
    const [registry, vaultId, objectId] = [this.#registry, this.#vaultId, this.#objectId];
    if (isSame(view, await this.#load()) || isEnough(this.#shownAgain, view, this.#signed))
      return requireBinding(registry, vaultId, objectId, view);
    const at = performance.now();
    const now = await read();
    await requireBinding(registry, vaultId, objectId, now);
    if (!isSame(view, now)) throw generationMoved();
    this.#shownAgain = { generation: now.generation, floor: now.floor, base: now.base, at };
  }

  /**
   * The place where a client writes by this view. It is the view's place, or the highest that any process was shown or
   * has seen signed, if its time has come. An end that was extended at the last moment takes the view's place back,
   * although somebody may have written at the later one.
   */
  async writingPlace(view: VaultView): Promise<Place> {
    await this.#storeSigned();
    const { candidates = [], ...highest } = await this.#load();
    const seen = [highest, ...candidates].map(toPlace);
    const isNow = (place: Place) => place.generation === view.generation && isReached(view, place);
    return seen.filter(isNow).reduce(laterPlace, placeOf(view));
  }

  /**
   * Whether a witness, or a read at least ten seconds earlier, has shown this base. By a lower one that a node makes
   * up, a new key would lead to keys of before a rotation.
   */
  async isBaseConfirmed(view: VaultView): Promise<boolean> {
    return baseIn(await this.#load()) === view.base;
  }

  /** A read has shown the makers of these records as members of their generation. */
  async recordMakers(makers: readonly MakerSight[]): Promise<void> {
    for (const maker of makers) {
      const change = withMaker(maker, this.#registry.clock());
      const seen = await this.#load();
      if (change(seen) !== seen) await this.#change(change);
    }
  }

  /** Whether a witness, or a sight of at least ten seconds ago, confirms that the maker is on the list there. */
  async isMakerConfirmed(maker: MakerSight): Promise<boolean> {
    return this.#isWitnessed || isMakerSeen(await this.#load(), maker, this.#registry.clock());
  }

  /** Before a key of this client's own is published; durable when it resolves. */
  async recordMade(name: string): Promise<void> {
    await this.#change(withOwnKey(name));
  }

  /** Whether this machine has made it, by its own record. */
  async isMade(name: string): Promise<boolean> {
    return ((await this.#load()).made ?? []).includes(name);
  }

  /** For a verified statement: all processes of this machine write no lower from then on. Does not fail; a writer repeats it. */
  recordSigned(place: Place): void {
    if (laterPlace(this.#signed, place) === this.#signed) return;
    this.#signed = place;
    this.#storeSigned().catch(() => undefined);
  }

  async #storeSigned(): Promise<void> {
    // The change that is on its way may have begun before the newest place was signed. So a second one may follow it.
    for (let attempt = 0; attempt < 2 && !this.#isSignedStored(); attempt += 1)
      await (this.#storing ??= this.#change(withReached(this.#signed)).finally(() => (this.#storing = null)));
  }

  #isSignedStored(): boolean {
    const cached = this.#cached;
    return cached !== null && withReached(this.#signed)(cached.highest) === cached.highest;
  }

  async #load(): Promise<Highest> {
    return this.#cache(await this.#registry.pins.loadHighest(this.#objectId));
  }

  async #change(by: (seen: Highest) => Highest): Promise<Highest> {
    return this.#cache(await this.#registry.pins.changeHighest(this.#objectId, by));
  }

  #cache(highest: Highest): Highest {
    // Only a user's decision lowers the stored state: then this process's own sight counts no more either.
    if (this.#cached !== null && isAbove(bindingOf(this.#cached.highest), bindingOf(highest))) {
      this.#registry.chain.forgetVault(this.#objectId);
      this.#recorded = new WeakMap();
      this.#signed = NOWHERE;
      this.#shownAgain = null;
    }
    this.#cached = { highest, at: performance.now() };
    return highest;
  }
}

function sightOf(
  { generation, floor, base, plainNames }: VaultObject,
  view: VaultView,
): Omit<Sight, "at" | "isWitnessed"> {
  return { ...placeOf(view), generation, floor, base, plainNames };
}

/** Calls for many files share what one started: each would wait for the lock of the pins by itself. A failure is not kept. */
function startOnce(
  started: WeakMap<VaultObject, Promise<void>>,
  vault: VaultObject,
  start: () => Promise<void>,
): Promise<void> {
  const running = started.get(vault);
  if (running !== undefined) return running;
  const now = start();
  started.set(vault, now);
  now.catch(() => started.delete(vault));
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
  { chain, pins }: VaultRegistry,
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
  { chain, pins }: VaultRegistry,
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
