/** Reads vault objects: fresh, and never older than what was seen before (encryption design §2, generation). */
import { ChainError } from "./errors.ts";
import type { Node } from "./node.ts";
import type { Pins } from "./pins.ts";
import type { VaultObject } from "./vault-object.ts";
import { LAG_MS } from "./vault-at-node.ts";
import { readAgreed, type Source } from "./witnesses.ts";

/** How old an answer from memory may be, in milliseconds. */
export const MEMORY_MS = 5000;
/** A node behind a load balancer may lack what another one has shown: ask again after these milliseconds. */
const RETRIES = [300, 700, 1500];
/** A state that a node shows twice, so many milliseconds apart, was no slip: from then on nothing older is accepted. */
export const CONFIRMED_AFTER_MS = 10_000;

/** Two nodes that are believed may be that far apart, each by `LAG_MS` off the right time, in milliseconds. */
export const MOST_AHEAD_MS = 2 * LAG_MS;
/** The longest pause before a node is asked again whether it has reached a time. */
const TIME_PAUSE_MS = 5000;

export interface ReadOptions {
  /** The highest generation that was ever seen, kept by the caller across restarts. Below it: `rolled_back`. */
  readonly minGeneration?: bigint | undefined;
  /** The same of the floor. */
  readonly minFloor?: bigint | undefined;
  /** The same of the base. */
  readonly minBase?: bigint | undefined;
  /**
   * A generation that somebody else claims. If it is higher than the one in memory, the client reads the chain again,
   * and does nothing else.
   */
  readonly hintedGeneration?: bigint | undefined;
  /**
   * A time that somebody else claims the chain has reached, in milliseconds since 1970. The client waits for a node
   * that is at most {@link MOST_AHEAD_MS} short of it, and reads the chain again. It does nothing else.
   */
  readonly hintedTime?: bigint | undefined;
  /** The object's version that a transaction has written. Below it: `rolled_back`. */
  readonly minVersion?: bigint | undefined;
  /** How old an answer from memory may be, in milliseconds; {@link MEMORY_MS} unless it is less. */
  readonly maxAge?: number | undefined;
}

interface Memory {
  readonly vault: VaultObject;
  /** When the read began, by the clock of the machine and by one that nobody sets. */
  readonly readAt: number;
  readonly readAtElapsed: number;
}

export interface VaultReader {
  readonly read: (objectId: string, options?: ReadOptions) => Promise<VaultObject>;
  /** The newest state that was shown, confirmed or not: nothing is written below it. null: none yet. */
  readonly newestShown: (objectId: string) => VaultObject | null;
  /** What was shown before no longer counts. */
  readonly forget: (objectId: string) => void;
}

/** What one node has shown, and how far the client believes it. */
interface Observed {
  /** The newest of all, and when it was first shown (`elapsed`). */
  readonly newest: VaultObject;
  readonly since: number;
  /**
   * The newest state that witnesses, or a read {@link CONFIRMED_AFTER_MS} later, have confirmed: nothing older is
   * accepted any more.
   */
  readonly confirmed: VaultObject | null;
  /** The node showed an older state afterwards, and kept it: readers no longer wait for the newest. */
  readonly isDoubted: boolean;
}

/**
 * `elapsed`: milliseconds by a clock that is never set. The client believes the clock by which more time has passed.
 * It believes everything that the node shows if each of the `witnesses` shows the same.
 */
export function openVaultReader(
  node: Node,
  pins: Pins,
  elapsed: () => number = () => performance.now(),
  witnesses: readonly Source[] = [],
): VaultReader {
  const reads = new Map<string, Observed>();
  const memory = new Map<string, Memory>();
  const underway = new Map<string, Promise<VaultObject>>();

  const readNow = async (objectId: string): Promise<VaultObject> => {
    const [readAt, readAtElapsed] = [node.clock(), elapsed()];
    const vault = await readAgreed({ node, pins }, witnesses, objectId);
    const before = reads.get(objectId);
    const isLower = before !== undefined && isOlder(vault, before.newest);
    if (!isLower) reads.set(objectId, recordObserved(before, vault, readAtElapsed, witnesses.length > 0));
    if (!isLower || before.isDoubted) memory.set(objectId, { vault, readAt, readAtElapsed });
    return vault;
  };

  const readOnce = (objectId: string): Promise<VaultObject> => {
    const running = underway.get(objectId);
    if (running !== undefined) return running;
    const reading = readNow(objectId).finally(() => underway.delete(objectId));
    underway.set(objectId, reading);
    return reading;
  };

  const findRemembered = (objectId: string, options: ReadOptions): VaultObject | null => {
    const seen = memory.get(objectId);
    if (seen === undefined || !isEnough(seen.vault, options)) return null;
    return ageOf(seen, node.clock(), elapsed) < Math.min(options.maxAge ?? MEMORY_MS, MEMORY_MS) ? seen.vault : null;
  };

  const read = async (objectId: string, options: ReadOptions = {}): Promise<VaultObject> => {
    // Callers that ask at once share one read; a caller that wants a later state reads again.
    await underway.get(objectId)?.catch(() => null);
    const remembered = findRemembered(objectId, options);
    if (remembered !== null) return remembered;
    for (const delay of [...RETRIES, null]) {
      const vault = await readOnce(objectId);
      const lastRead = reads.get(objectId);
      const isLower = lastRead !== undefined && isOlder(vault, lastRead.newest);
      const isTaken = lastRead?.confirmed == null || !isOlder(vault, lastRead.confirmed);
      if (isReached(vault, options) && isTaken && (!isLower || lastRead.isDoubted)) return vault;
      if (delay === null) {
        if (!isReached(vault, options) || !isTaken) throw rolledBack(vault, lastRead?.newest, options);
        if (lastRead !== undefined) reads.set(objectId, { ...lastRead, isDoubted: true });
        return vault;
      }
      await node.wait(delay);
    }
    throw new ChainError("rolled_back");
  };
  return {
    read: awaitingTime(node, read),
    newestShown: (objectId) => reads.get(objectId)?.newest ?? null,
    forget: (objectId) => {
      reads.delete(objectId);
      memory.delete(objectId);
    },
  };
}

/** Reads again until the node has reached `hintedTime`, or has had the time for it. */
function awaitingTime(node: Node, read: VaultReader["read"]): VaultReader["read"] {
  return async (objectId, options = {}) => {
    const time = Number(options.hintedTime ?? 0n);
    for (let waited = 0; ;) {
      const vault = await read(objectId, options);
      const remaining = time - vault.asOf;
      if (remaining <= 0 || waited + remaining > MOST_AHEAD_MS) return vault;
      const pause = Math.min(remaining, TIME_PAUSE_MS);
      await node.wait(pause);
      waited += pause;
    }
  };
}

/** `vault` is not older than what was shown before. */
function recordObserved(before: Observed | undefined, vault: VaultObject, now: number, isWitnessed: boolean): Observed {
  const isSame = before !== undefined && !isOlder(before.newest, vault);
  const since = isSame ? before.since : now;
  const isOldEnough = before !== undefined && now - before.since >= CONFIRMED_AFTER_MS;
  const confirmed = isWitnessed ? vault : isOldEnough ? before.newest : (before?.confirmed ?? null);
  return { newest: vault, since, confirmed, isDoubted: false };
}

/** In milliseconds, by the clock by which more time has passed. */
function ageOf({ readAt, readAtElapsed }: Memory, now: number, elapsed: () => number): number {
  const byClock = now - readAt;
  // A clock that is set back would keep a read for longer; the other one stops while some machines sleep.
  return byClock < 0 ? Infinity : Math.max(byClock, elapsed() - readAtElapsed);
}

/** Whether the answer in memory is enough for the caller. */
function isEnough(vault: VaultObject, options: ReadOptions): boolean {
  const { hintedGeneration = 0n, hintedTime = 0n } = options;
  return isReached(vault, options) && vault.generation >= hintedGeneration && vault.asOf >= hintedTime;
}

function isReached(
  { generation, floor, base, version }: VaultObject,
  { minGeneration = 0n, minFloor = 0n, minBase = 0n, minVersion = 0n }: ReadOptions,
): boolean {
  return generation >= minGeneration && floor >= minFloor && base >= minBase && version >= minVersion;
}

function isOlder(vault: VaultObject, seen: VaultObject): boolean {
  return (
    vault.version < seen.version ||
    vault.generation < seen.generation ||
    vault.floor < seen.floor ||
    vault.base < seen.base
  );
}

function rolledBack(vault: VaultObject, seen: VaultObject | undefined, options: ReadOptions): ChainError {
  const highest = [options.minGeneration ?? 0n, seen?.generation ?? 0n].reduce((a, b) => (a > b ? a : b));
  return new ChainError("rolled_back", {
    message: `The chain node shows the vault in generation ${vault.generation}, but ${highest} was seen before, or a later change of it. Or a floor above ${vault.floor} was seen, or a base above ${vault.base}. Try again, or name another node.`,
  });
}
