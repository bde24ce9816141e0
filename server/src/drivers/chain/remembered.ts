/** What every chain driver does with what it reads: remembers it for as long as callers allow, and believes no older generation. */
import { type Chain, ChainUnavailableError, type ChainVault } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";

/** Reads a vault object; null when there is none. Rejects, with whatever error, when the result is unknown. */
export type ReadObject = (objectId: string, signal: AbortSignal) => Promise<Omit<ChainVault, "readAt"> | null>;

export interface Bounds {
  /** Milliseconds that a read may take. */
  readonly timeout: number;
  /** Entries of allowlists that are remembered, former ones too; the vaults asked for least recently go first. */
  readonly entries: number;
  /** Vaults with a remembered highest generation. */
  readonly generations: number;
}

/** A vault of a thousand members and two thousand former ones takes about a megabyte: fifty such at most. */
const BOUNDS: Bounds = { timeout: 5_000, entries: 150_000, generations: 100_000 };

interface Remembered {
  readonly vault: ChainVault;
  readonly startedAt: number;
  /** The number of its read: those that began later have higher numbers. */
  readonly order: number;
}

interface Running {
  /** By `elapsed`; Infinity until it begins. */
  startedAt: number;
  readonly result: Promise<ChainVault | null>;
}

export class RememberedVaults implements Chain {
  readonly #read: ReadObject;
  readonly #clock: Clock;
  readonly #bounds: Bounds;
  /** Both in the order of use. */
  readonly #vaults = new Map<string, Remembered>();
  readonly #highest = new Map<string, number>();
  readonly #running = new Map<string, Running>();
  readonly #closing = new AbortController();
  #entries = 0;
  #order = 0;

  constructor(read: ReadObject, { clock, bounds = {} }: { readonly clock: Clock; readonly bounds?: Partial<Bounds> }) {
    this.#read = read;
    this.#clock = clock;
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  readVault(objectId: string, { maxAge }: { readonly maxAge: number }): Promise<ChainVault | null> {
    const now = this.#clock.elapsed();
    const known = this.#vaults.get(objectId);
    if (known !== undefined && now - known.startedAt < maxAge) {
      this.#remember(objectId, known);
      return Promise.resolve(known.vault);
    }
    const running = this.#running.get(objectId);
    if (running !== undefined && now - running.startedAt <= maxAge) return running.result;
    return this.#start(objectId).result;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#vaults.clear();
    return Promise.resolve();
  }

  #start(objectId: string): Running {
    const running: Running = {
      startedAt: Infinity,
      result: Promise.resolve().then(() => this.#run(objectId, running)),
    };
    this.#running.set(objectId, running);
    return running;
  }

  async #run(objectId: string, running: Running): Promise<ChainVault | null> {
    running.startedAt = this.#clock.elapsed();
    const begun = { startedAt: running.startedAt, order: (this.#order += 1) };
    const readAt = this.#clock.now();
    try {
      const found = await this.#readInTime(objectId);
      return this.#accept(objectId, begun, found === null ? null : { ...found, readAt });
    } finally {
      if (this.#running.get(objectId) === running) this.#running.delete(objectId);
    }
  }

  async #readInTime(objectId: string): Promise<Omit<ChainVault, "readAt"> | null> {
    if (this.#closing.signal.aborted) throw new ChainUnavailableError("The chain's driver is closed");
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#bounds.timeout)]);
    const ended = Promise.withResolvers<never>();
    const end = (): void => ended.reject(new Error("The read took too long", { cause: signal.reason }));
    signal.addEventListener("abort", end);
    try {
      // A read that does not look at its signal is left to itself.
      return await Promise.race([this.#read(objectId, signal), ended.promise]);
    } catch (error) {
      if (error instanceof ChainUnavailableError) throw error;
      throw new ChainUnavailableError("The chain could not be read", { cause: error });
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  #accept(objectId: string, begun: Omit<Remembered, "vault">, found: ChainVault | null): ChainVault | null {
    const highest = this.#highest.get(objectId);
    if (highest !== undefined && (found === null || found.generation < highest)) {
      // Reads may overtake each other: the result of a later one stays.
      const known = this.#vaults.get(objectId);
      if (known !== undefined && known.order > begun.order) return known.vault;
      throw new ChainUnavailableError("The chain's node shows an older state of the vault than before");
    }
    if (found === null) return null;
    this.#raise(objectId, found.generation);
    this.#remember(objectId, { ...begun, vault: found });
    return found;
  }

  #raise(objectId: string, generation: number): void {
    this.#highest.delete(objectId);
    this.#highest.set(objectId, generation);
    while (this.#highest.size > this.#bounds.generations) this.#highest.delete(firstOf(this.#highest));
  }

  #remember(objectId: string, remembered: Remembered): void {
    this.#forget(objectId);
    this.#vaults.set(objectId, remembered);
    this.#entries += sizeOf(remembered.vault);
    while (this.#entries > this.#bounds.entries) this.#forget(firstOf(this.#vaults));
  }

  #forget(objectId: string): void {
    const known = this.#vaults.get(objectId);
    if (known === undefined) return;
    this.#vaults.delete(objectId);
    this.#entries -= sizeOf(known.vault);
  }
}

function sizeOf({ members, former }: ChainVault): number {
  return 1 + members.length + former.length;
}

/** The key that was used least recently. */
function firstOf(map: ReadonlyMap<string, unknown>): string {
  for (const key of map.keys()) return key;
  throw new RangeError("nothing is left to forget");
}
