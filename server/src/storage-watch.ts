/**
 * Watches the storage of a running server: what its drivers notice by themselves, and what a probe finds each minute. It logs each beginning and
 * each end once; readiness, metrics and liveness follow it.
 */
import type { Deps } from "./deps.ts";
import { BlobStoreFullError } from "./ports/blob-store.ts";
import { DatabaseFullError } from "./ports/database.ts";
import { lockName } from "./ports/leases.ts";
import type { Damage, OnStorageFault, StorageFault } from "./ports/storage-faults.ts";

export const STORAGE_PARTS = ["database", "blobs"] as const;
export type StoragePart = (typeof STORAGE_PARTS)[number];

/**
 * `stopped`: a flush failed, and nothing is written until the process is another one. `damaged`: a part cannot be read. `away`: the probe could
 * not write, or not read what it wrote. `full`: something was refused for want of room, or only the reserve of its disk is left.
 */
export type StorageState = "stopped" | "damaged" | "away" | "full";

export interface StorageWatchOptions {
  /** Between two probes, and while one has failed. Milliseconds. */
  readonly probeEvery?: number;
  readonly probeAgain?: number;
  /** From a failed flush to the end of the process. Milliseconds. */
  readonly endAfter?: number;
}

/** What a line of the log says. */
export type LogStorage = (
  line: { readonly part: StoragePart; readonly state: StorageState | "back"; readonly [field: string]: unknown },
  cause?: unknown,
) => void;

const PROBE_EVERY = 60_000;
const PROBE_AGAIN = 5_000;
const END_AFTER = 60_000;
/** One look through a whole file costs what many requests do: no sooner again than so. Milliseconds. */
const EXAMINE_EVERY = 10 * 60_000;
/** A lease that nobody takes: writing its row changes nothing. */
const PROBE_NAME = "storage-probe";

type Probed = Pick<Deps, "database" | "blobs" | "random">;

export class StorageWatch {
  readonly #log: LogStorage;
  readonly #times: Required<StorageWatchOptions>;
  readonly #states: Readonly<Record<StoragePart, Set<StorageState>>> = { database: new Set(), blobs: new Set() };
  /** What was refused for want of room since the last probe. */
  readonly #refused = new Set<StoragePart>();
  readonly #lost = Promise.withResolvers<undefined>();
  /** Elapsed milliseconds: when the file was looked through last. */
  #examinedAt = -Infinity;
  /** Elapsed milliseconds: the end of the last probe, and the beginning of the next; now, while one is under way. */
  #probedAt = -Infinity;
  #dueAt = Infinity;
  #isLost = false;
  #ending: NodeJS.Timeout | null = null;
  #probing: NodeJS.Timeout | null = null;
  #probed: Probed | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(note: LogStorage, options: StorageWatchOptions = {}) {
    this.#log = note;
    this.#times = { probeEvery: PROBE_EVERY, probeAgain: PROBE_AGAIN, endAfter: END_AFTER, ...options };
  }

  /** What is wrong now. */
  has(part: StoragePart, state: StorageState): boolean {
    return this.#states[part].has(state);
  }

  /** The storage stopped a while ago, and only another process can write again. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Resolves when {@link isLost} begins. */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  /** For a driver. */
  onFaultOf(part: StoragePart): OnStorageFault {
    return (fault) => this.#handleFault(part, fault);
  }

  /** Begins to probe. Returns how to end it; resolves when the probe under way is over. */
  watch(probed: Probed): () => Promise<void> {
    this.#probed = probed;
    // A server that starts on a full disk says so before anything is refused.
    this.#running = this.#probeRoom(probed);
    this.#probeIn(this.#times.probeEvery);
    return () => {
      this.#probed = null;
      if (this.#probing !== null) clearTimeout(this.#probing);
      if (this.#ending !== null) clearTimeout(this.#ending);
      return this.#running;
    };
  }

  #handleFault(part: StoragePart, fault: StorageFault): void {
    if (fault.kind === "damaged") return this.#handleDamage(part, fault);
    if (fault.kind === "full") {
      this.#refused.add(part);
      return this.#enter(part, "full", fault.cause);
    }
    if (fault.kind === "gone") this.#enter(part, "away", fault.cause);
    if (fault.kind === "gone" || fault.kind === "suspect") return this.#probeSoon();
    this.#enter(part, "stopped", fault.cause);
    this.#ending ??= setTimeout(() => {
      this.#isLost = true;
      this.#lost.resolve(undefined);
    }, this.#times.endAfter).unref();
  }

  #handleDamage(part: StoragePart, damage: Damage): void {
    const { file, query, cause, examine } = damage;
    this.#enter(part, "damaged", cause, { file, query });
    if (examine === null || performance.now() - this.#examinedAt < EXAMINE_EVERY) return;
    this.#examinedAt = performance.now();
    // The request that met it does not wait for this, and `examine` does not reject.
    void examine().then((integrity) => {
      this.#log({ part, state: "damaged", file, integrity });
      if (integrity.length === 1 && integrity[0] === "ok") this.#leave(part, "damaged");
    });
  }

  #enter(part: StoragePart, state: StorageState, cause: unknown, fields: Readonly<Record<string, unknown>> = {}): void {
    if (this.has(part, state)) return;
    this.#states[part].add(state);
    this.#log({ part, state, ...fields }, cause);
  }

  #leave(part: StoragePart, state: StorageState, fields: Readonly<Record<string, unknown>> = {}): void {
    if (this.#states[part].delete(state)) this.#log({ part, state: "back", was: state, ...fields });
  }

  /** However many requests were refused. */
  #probeSoon(): void {
    const wait = this.#probedAt + this.#times.probeAgain - performance.now();
    if (performance.now() + wait < this.#dueAt) this.#probeIn(Math.max(0, wait));
  }

  #probeIn(milliseconds: number): void {
    if (this.#probed === null) return;
    this.#dueAt = performance.now() + milliseconds;
    if (this.#probing !== null) clearTimeout(this.#probing);
    this.#probing = setTimeout(() => {
      this.#running = this.#probe();
    }, milliseconds).unref();
  }

  async #probe(): Promise<void> {
    const probed = this.#probed;
    if (probed === null) return;
    // What is refused during the probe asks for none.
    this.#dueAt = -Infinity;
    const refused = new Set(this.#refused);
    this.#refused.clear();
    const results = await Promise.allSettled([probeDatabase(probed), probeBlobs(probed)]);
    for (const [at, part] of STORAGE_PARTS.entries()) {
      // Of a part that has stopped the probe says nothing new.
      if (this.has(part, "stopped")) continue;
      const result = results[at];
      if (result?.status === "rejected") this.#enter(part, "away", result.reason);
      else this.#leave(part, "away");
    }
    await this.#probeRoom(probed, refused);
    this.#probedAt = performance.now();
    const failed = STORAGE_PARTS.some((part) => this.has(part, "away"));
    this.#probeIn(failed ? this.#times.probeAgain : this.#times.probeEvery);
  }

  /**
   * Of each disk: the probe's few bytes fit where no upload does. A part that is full stays so while something was refused since the probe
   * before, so that large uploads, which leave room when they are given up, do not end and begin it each time.
   */
  async #probeRoom(probed: Probed, refused: ReadonlySet<StoragePart> = new Set()): Promise<void> {
    for (const part of STORAGE_PARTS) {
      const room = await probed[part].diskRoom().catch(() => "away" as const);
      if (room === "away") continue;
      if (room !== null && room.freeBytes <= room.reserveBytes) this.#enter(part, "full", undefined, { ...room });
      else if (!refused.has(part) && !this.#refused.has(part)) this.#leave(part, "full", { ...room });
    }
  }
}

/** A full disk is no lost one: it still serves, and deletes. Its driver has said that it is full. */
async function probeDatabase({ database }: Probed): Promise<void> {
  await database.ping();
  try {
    await database.transaction((transaction) => lockName(transaction, PROBE_NAME));
  } catch (error) {
    if (!(error instanceof DatabaseFullError)) throw error;
  }
}

async function probeBlobs({ blobs, random }: Probed): Promise<void> {
  await blobs.ping();
  const key = `probe-${random.uuid()}`;
  const bytes = Buffer.from(key);
  try {
    await blobs.putAll([{ key, bytes }]);
    const found = await blobs.open(key);
    if (found === null || !(await collect(found)).equals(bytes))
      throw new Error("The blob store gave back other bytes than it took");
  } catch (error) {
    if (!(error instanceof BlobStoreFullError)) throw error;
  } finally {
    // What cannot be removed now is an orphan, as after a crash.
    await blobs.delete(key).catch(() => undefined);
  }
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}
