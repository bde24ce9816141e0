/** The chain: its objects in memory, every change on disk before it is seen. */
import { toBase58 } from "@mysten/bcs";
import { type FindModule, type Layouts, layoutsOf } from "../move/layouts.ts";
import { type MoveModule, readModule } from "../move/module.ts";
import { CLOCK_ID, clockObject, cofferPackage, genesisObjects, isCofferPackage, PACKAGE_ID } from "./genesis.ts";
import type { Packages } from "./executor.ts";
import type { StoredObject } from "./objects.ts";
import type { Outcome } from "./outcome.ts";
import { type ChainFacts, type ChainStore, openChainStore } from "./store.ts";

/** The chain as one node sees it; see {@link Ledger.freeze}. */
export interface LedgerView extends Packages {
  readonly chainId: string;
  readonly epoch: number;
  readonly height: number;
  /** How many epochs a transaction may be valid in: by older protocols in one only. */
  readonly validEpochs: 1 | 2;
  readonly objects: ReadonlyMap<string, StoredObject>;
  /** Time of the newest checkpoint, in milliseconds since 1970. */
  checkpointTime(): number;
  /** The record of an executed transaction, or null. */
  readTransaction(digest: string): Uint8Array | null;
}

export interface LedgerOptions {
  /** Null: the chain is gone when it is closed. */
  readonly directory: string | null;
  readonly clock: () => number;
  /** So many random bytes. */
  readonly random: (size: number) => Uint8Array;
  readonly validEpochs: 1 | 2;
}

export class Ledger implements LedgerView {
  readonly findModule: FindModule;
  readonly layouts: Layouts;
  readonly isCofferPackage = isCofferPackage;
  readonly validEpochs: 1 | 2;
  readonly #store: ChainStore;
  readonly #clock: () => number;
  readonly #objects: Map<string, StoredObject>;
  readonly #watchers = new Set<() => void>();
  #facts: ChainFacts;

  /** Opens the chain of a directory, or makes it. */
  constructor({ directory, clock, random, validEpochs }: LedgerOptions) {
    this.validEpochs = validEpochs;
    this.#store = openChainStore(directory);
    this.#clock = clock;
    const facts = this.#store.readFacts();
    this.#objects = this.#store.readObjects();
    this.#facts = facts ?? { chainId: toBase58(random(32)), epoch: 0, height: 0, time: clock() };
    this.findModule = modulesOf(this.#objects);
    this.layouts = layoutsOf(this.findModule);
    if (facts === null) this.#write(genesisObjects(this.#facts.time), [], null);
    // Another build of the package than the one this chain began with.
    else if (!this.#objects.has(PACKAGE_ID)) this.#write([cofferPackage()], [], null);
  }

  get chainId(): string {
    return this.#facts.chainId;
  }

  get epoch(): number {
    return this.#facts.epoch;
  }

  get height(): number {
    return this.#facts.height;
  }

  get objects(): ReadonlyMap<string, StoredObject> {
    return this.#objects;
  }

  /** A node that is up to date has a checkpoint of this moment. Never goes back. */
  checkpointTime(): number {
    return Math.max(this.#clock(), this.#facts.time);
  }

  readTransaction(digest: string): Uint8Array | null {
    return this.#store.readTransaction(digest);
  }

  /** Commits a transaction's effects; `record` is the later answer about it. */
  commit({ digest, changes }: Outcome, record: Uint8Array): void {
    const written = changes.flatMap(({ after }) => after ?? []);
    const removed = changes.flatMap(({ id, after }) => (after === null ? [id] : []));
    this.#advance({ height: this.height + 1 }, written, removed, { digest, record });
  }

  /** Writes objects that no transaction wrote. */
  put(objects: readonly StoredObject[]): void {
    this.#advance({ height: this.height + 1 }, objects, [], null);
  }

  advanceEpoch(): number {
    this.#advance({ height: this.height + 1, epoch: this.epoch + 1 }, [], [], null);
    return this.epoch;
  }

  /** The chain as it is now, for good: what a node that lags behind goes on seeing. */
  freeze(): LedgerView {
    const objects = new Map(this.#objects);
    const findModule = modulesOf(objects);
    const time = this.checkpointTime();
    const { chainId, epoch, height, validEpochs } = this;
    // Its transactions are those it has seen: a record names the checkpoint that holds it.
    return {
      chainId,
      epoch,
      height,
      validEpochs,
      objects,
      findModule,
      layouts: layoutsOf(findModule),
      isCofferPackage,
      checkpointTime: () => time,
      readTransaction: (digest) => (seenTransactions(objects).has(digest) ? this.readTransaction(digest) : null),
    };
  }

  /** Calls `watcher` before each change; the function that comes back ends that. */
  beforeChange(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  close(): void {
    this.#store.close();
  }

  #advance(
    change: Partial<ChainFacts>,
    written: readonly StoredObject[],
    removed: readonly string[],
    transaction: { readonly digest: string; readonly record: Uint8Array } | null,
  ): void {
    for (const watcher of this.#watchers) watcher();
    const time = this.checkpointTime();
    const clock = clockObject(time, (this.#objects.get(CLOCK_ID)?.version ?? 0n) + 1n);
    const before = this.#facts;
    this.#facts = { ...before, ...change, time };
    try {
      this.#write([clock, ...written], removed, transaction);
    } catch (error) {
      this.#facts = before;
      throw error;
    }
  }

  #write(
    written: readonly StoredObject[],
    removed: readonly string[],
    transaction: { readonly digest: string; readonly record: Uint8Array } | null,
  ): void {
    this.#store.write({ written, removed, transaction, facts: this.#facts });
    for (const object of written) this.#objects.set(object.id, object);
    for (const id of removed) this.#objects.delete(id);
  }
}

function seenTransactions(objects: ReadonlyMap<string, StoredObject>): Set<string> {
  return new Set([...objects.values()].map((object) => object.previousTransaction));
}

/** Packages never change: what was read once is kept. */
function modulesOf(objects: ReadonlyMap<string, StoredObject>): FindModule {
  const read = new Map<string, MoveModule>();
  return (address, name) => {
    const known = read.get(`${address}::${name}`);
    if (known !== undefined) return known;
    const data = objects.get(address)?.data;
    const bytes = data?.kind === "package" ? data.modules.get(name) : undefined;
    if (bytes === undefined) return null;
    const module = readModule(bytes);
    read.set(`${address}::${name}`, module);
    return module;
  };
}
