/** Reads vault objects: fresh, and never older than what was seen before (encryption design §2, generation). */
import { ChainError } from "./errors.ts";
import type { Node } from "./node.ts";
import type { Pins } from "./pins.ts";
import type { VaultObject } from "./vault-object.ts";
import { readAgreed, type Source } from "./witnesses.ts";

/** How old an answer from memory may be, in milliseconds. */
export const MEMORY_MS = 5000;
/** A node behind a load balancer may lack what another one has shown: ask again after these milliseconds. */
const RETRIES = [300, 700, 1500];

export interface ReadOptions {
  /** The highest generation that was ever seen, kept by the caller across restarts. Below it: `rolled_back`. */
  readonly minGeneration?: bigint | undefined;
  /** A generation that somebody else claims. If it is higher than the one in memory, the chain is read again; nothing else follows. */
  readonly hintedGeneration?: bigint | undefined;
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

/**
 * `elapsed`: milliseconds by a clock that is never set; of two clocks the one by which more time has passed is believed. Whatever the node
 * shows is believed when each of the `witnesses` shows the same.
 */
export function openVaultReader(
  node: Node,
  pins: Pins,
  elapsed: () => number = () => performance.now(),
  witnesses: readonly Source[] = [],
) {
  const memory = new Map<string, Memory>();
  const underway = new Map<string, Promise<VaultObject>>();

  const readNow = async (objectId: string): Promise<VaultObject> => {
    await pins.verify();
    const [readAt, readAtElapsed] = [node.clock(), elapsed()];
    const vault = await readAgreed({ node, pins }, witnesses, objectId);
    const seen = memory.get(objectId);
    if (seen !== undefined && isOlder(vault, seen.vault)) return vault;
    memory.set(objectId, { vault, readAt, readAtElapsed });
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
    const byClock = node.clock() - seen.readAt;
    // A clock that is set back would keep what was read for longer; the other one stands still while some machines sleep.
    const age = byClock < 0 ? Infinity : Math.max(byClock, elapsed() - seen.readAtElapsed);
    return age < Math.min(options.maxAge ?? MEMORY_MS, MEMORY_MS) ? seen.vault : null;
  };

  return async (objectId: string, options: ReadOptions = {}): Promise<VaultObject> => {
    // Callers that ask at once share one read; who wants it fresher than its beginning reads again.
    await underway.get(objectId)?.catch(() => null);
    const remembered = findRemembered(objectId, options);
    if (remembered !== null) return remembered;
    for (const delay of [...RETRIES, null]) {
      const vault = await readOnce(objectId);
      const known = memory.get(objectId)?.vault;
      if (isReached(vault, options) && (known === undefined || !isOlder(vault, known))) return vault;
      if (delay === null) throw rolledBack(vault, known, options);
      await node.wait(delay);
    }
    throw new ChainError("rolled_back");
  };
}

/** Whether the answer in memory says all that the caller asks for. */
function isEnough(vault: VaultObject, options: ReadOptions): boolean {
  return isReached(vault, options) && vault.generation >= (options.hintedGeneration ?? 0n);
}

function isReached(
  { generation, version }: VaultObject,
  { minGeneration = 0n, minVersion = 0n }: ReadOptions,
): boolean {
  return generation >= minGeneration && version >= minVersion;
}

function isOlder(vault: VaultObject, seen: VaultObject): boolean {
  return vault.version < seen.version || vault.generation < seen.generation;
}

function rolledBack(vault: VaultObject, seen: VaultObject | undefined, options: ReadOptions): ChainError {
  const highest = [options.minGeneration ?? 0n, seen?.generation ?? 0n].reduce((a, b) => (a > b ? a : b));
  return new ChainError("rolled_back", {
    message: `The chain node shows the vault in generation ${vault.generation}, but ${highest} was seen before, or a later change of it. Try again, or name another node.`,
  });
}
