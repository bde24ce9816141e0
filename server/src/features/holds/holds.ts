/**
 * The storage that an upload in one request holds while its bytes arrive (docs/decisions/0027-bytes-in-flight.md). What is
 * declared counts from the beginning, what is not as it comes: as rows, for all processes together.
 */
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { Session } from "../../ports/database.ts";
import { readFreeStorage } from "./free-storage.ts";
import { deleteExpiredHolds, deleteHold, putHold } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings">;

/** An upload up to this needs no row: its bytes are in memory until all have come. */
const SMALL_BYTES = 64 * 1024;

/** Of an account's small uploads together; what comes beyond it has rows. */
const SMALL_TOTAL = 1024 * 1024;

/** A hold lives this much longer than the longest silence of a sender. Milliseconds. */
const AFTER_SILENCE_MS = 60_000;

export interface WantedHold {
  readonly accountId: string;
  /** null: the sender did not say how many bytes come. */
  readonly length: number | null;
  /** Bytes that the finished upload gives back. */
  readonly freed: number;
}

/** Owns what the small uploads of this process hold. */
export class Holds {
  readonly #deps: Needs;
  readonly #small = new Map<string, number>();

  constructor(deps: Needs) {
    this.#deps = deps;
  }

  /** Throws `storage_quota` when files, unfinished uploads and this one together exceed the quota. */
  async take(wanted: WantedHold): Promise<Hold> {
    const hold = new Hold(this.#deps, wanted, this.#takeSmall(wanted));
    try {
      if (wanted.length !== null) await hold.require(wanted.length);
      return hold;
    } catch (error) {
      await hold.end("failed");
      throw error;
    }
  }

  /** Room for one small upload; null: there is none left, and a row is needed from the first byte. */
  #takeSmall({ accountId, length }: WantedHold): (() => void) | null {
    const bytes = Math.min(length ?? SMALL_BYTES, SMALL_BYTES);
    const held = this.#small.get(accountId) ?? 0;
    if ((length ?? 0) > SMALL_BYTES || held + bytes > SMALL_TOTAL) return null;
    this.#small.set(accountId, held + bytes);
    return () => {
      const left = (this.#small.get(accountId) ?? 0) - bytes;
      if (left > 0) this.#small.set(accountId, left);
      else this.#small.delete(accountId);
    };
  }
}

/** What one upload holds. */
export class Hold {
  readonly #deps: Needs;
  readonly #wanted: WantedHold;
  readonly #id: string;
  #giveSmall: (() => void) | null;
  /** Bytes that may come without asking again. */
  #granted: number;
  #hasRow = false;
  #renewAt = Number.POSITIVE_INFINITY;

  constructor(deps: Needs, wanted: WantedHold, giveSmall: (() => void) | null) {
    this.#deps = deps;
    this.#wanted = wanted;
    this.#id = deps.random.uuid();
    this.#giveSmall = giveSmall;
    this.#granted = giveSmall === null ? 0 : SMALL_BYTES;
  }

  /** Throws `storage_quota` unless `bytes` of the upload fit beside all that is held. */
  async require(bytes: number): Promise<void> {
    if (bytes > this.#granted) await this.#grow(bytes);
  }

  /** The stream, held to what is granted; no byte passes that does not fit. */
  async *within(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let arrived = 0;
    for await (const chunk of source) {
      arrived += chunk.byteLength;
      if (arrived > this.#granted || this.#deps.clock.now() >= this.#renewAt) await this.#grow(arrived);
      yield chunk;
    }
  }

  /** In the transaction that counts the bytes as usage: they are held no longer. */
  async settle(transaction: Session): Promise<void> {
    if (this.#hasRow) await deleteHold(transaction, this.#id);
  }

  /** After the transaction: `committed`, what {@link settle} did stands. Never rejects: what cannot be removed expires. */
  async end(outcome: "committed" | "failed"): Promise<void> {
    this.#giveSmall?.();
    this.#giveSmall = null;
    if (!this.#hasRow || outcome === "committed") return;
    const removing = this.#deps.database.transaction((transaction) => deleteHold(transaction, this.#id), {
      freesSpace: true,
    });
    await removing.catch(ignore);
  }

  /** Of a sender that says no length twice as much is taken, so that rows are written seldom. */
  async #grow(bytes: number): Promise<void> {
    const { database, clock, settings } = this.#deps;
    const { accountId, length, freed } = this.#wanted;
    const now = clock.now();
    const silence = settings.timing.idleBody;
    await database.transaction(async (transaction) => {
      await deleteExpiredHolds(transaction, now);
      const free = await readFreeStorage(transaction, this.#deps, { accountId, freed, except: this.#id });
      const least = Math.max(bytes, length ?? 0);
      if (least > free) throw new ServiceError("storage_quota");
      const granted = length === null ? Math.min(bytes * 2, free) : least;
      const expiry = now + silence + AFTER_SILENCE_MS;
      await putHold(transaction, { id: this.#id, account_id: accountId, bytes: granted, expires_at: expiry });
      this.#granted = granted;
    });
    this.#hasRow = true;
    this.#renewAt = now + silence;
  }
}

function ignore(): void {}
