/**
 * The storage that an upload in one request holds while its bytes arrive (docs/decisions/0027-bytes-in-flight.md).
 * Declared lengths count from the beginning, others as the bytes come: as rows, for all processes together.
 */
import type { Deps } from "../../deps.ts";
import type { Budget } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actOn } from "../account/act.ts";
import { holdBudgets, readBytesLeft } from "../budgets/spending.ts";
import { readFreeStorage, readOverrun } from "./free-storage.ts";
import { AFTER_SILENCE_MS, holdLifetime } from "./rules.ts";
import { SpareRows, type HoldRow } from "./spare-rows.ts";
import { deleteExpiredHolds, release, insertHold } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings">;

const MIB = 1024 * 1024;

/** An upload up to this needs no row: its bytes are in memory until all have come. */
const SMALL_BYTES = 64 * 1024;

/** The bytes of an account's small uploads together; uploads beyond it have rows. */
const SMALL_TOTAL = MIB;

/** A row takes this much along for the uploads that come next: they need no transaction of their own. */
const SPARE_BYTES = 16 * MIB;

/** It takes no share unless this much is left: near the quota every byte counts exactly. */
const AMPLE_BYTES = 256 * MIB;

export interface WantedHold {
  readonly accountId: string;
  /** null: the sender did not say how many bytes come. */
  readonly length: number | null;
  /** Bytes that the finished upload gives back. */
  readonly freed: number;
}

/** For budgets of the sender, too (decision 0057). An upload with budgets shares its row with no other. */
interface BudgetedHold extends WantedHold {
  readonly budgets: readonly Budget[];
}

/** Owns what the uploads of this process hold together: what the small ones may, and the rows with room to spare. */
export class Holds {
  readonly #deps: Needs;
  readonly #small = new Map<string, number>();
  readonly #rows = new SpareRows();

  constructor(deps: Needs) {
    this.#deps = deps;
  }

  /** Throws `storage_quota` when files, unfinished uploads and this one together exceed the quota, and what {@link holdBudgets} does. */
  async acquire(wanted: BudgetedHold): Promise<Hold> {
    const hold = new Hold(this.#deps, this.#rows, wanted, this.#acquireSmall(wanted));
    try {
      if (wanted.length !== null) await hold.require(wanted.length);
      return hold;
    } catch (error) {
      await hold.end("rolled back");
      throw error;
    }
  }

  /** Room for one small upload; null: there is none left, and a row is needed from the first byte. */
  #acquireSmall({ accountId, length }: WantedHold): (() => void) | null {
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

/** What one upload holds: a share of a row, unless it is small. */
export class Hold {
  readonly #deps: Needs;
  readonly #rows: SpareRows;
  readonly #wanted: BudgetedHold;
  #releaseSmall: (() => void) | null;
  /** Bytes that may come without asking again. */
  #granted: number;
  #row: HoldRow | null = null;
  /** Bytes of the row. */
  #share = 0;
  #isSettled = false;

  constructor(deps: Needs, rows: SpareRows, wanted: BudgetedHold, giveSmall: (() => void) | null) {
    this.#deps = deps;
    this.#rows = rows;
    this.#wanted = wanted;
    this.#releaseSmall = giveSmall;
    this.#granted = giveSmall === null ? 0 : SMALL_BYTES;
  }

  /** Throws `storage_quota` unless `bytes` of the upload fit beside all that is held. */
  async require(bytes: number): Promise<void> {
    if (bytes > this.#granted) await this.#grow(bytes);
  }

  /** The stream, limited to the granted bytes; no other byte passes. */
  async *within(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let arrived = 0;
    for await (const chunk of source) {
      arrived += chunk.byteLength;
      if (arrived > this.#granted || this.#isStale()) await this.#grow(arrived);
      yield chunk;
    }
  }

  /**
   * In the transaction that counts the bytes as usage: they are held no longer. A small upload has no row that
   * reserves room, so it gets only what others left. Throws `storage_quota`.
   */
  async settle(act: AccountAct, size: number): Promise<void> {
    if (this.#row !== null) await release(act, this.#row, this.#share);
    else if (!(await this.#fits(act, size))) throw new ServiceError("storage_quota");
    this.#isSettled = true;
  }

  /**
   * After the transaction. `committed`: the effect of {@link settle} stays. `unknown`: it may stay, so its holds
   * expire. Never rejects: holds that cannot be given back expire as well.
   */
  async end(outcome: "committed" | "rolled back" | "unknown"): Promise<void> {
    this.#releaseSmall?.();
    this.#releaseSmall = null;
    const [row, share] = [this.#row, this.#share];
    if (row === null || outcome === "committed") return;
    this.#row = null;
    if (outcome === "unknown" && this.#isSettled) return;
    if (!this.#isStale(row) && this.#rows.release(this.#wanted.accountId, row, share)) return;
    const giving = this.#deps.database.transaction((transaction) => release(transaction, row, share), {
      freesSpace: true,
    });
    await giving.catch(ignore);
  }

  /** An upload that is no larger than the bytes it frees fits into any account, above its quota, too. */
  async #fits(act: AccountAct, size: number): Promise<boolean> {
    const { freed } = this.#wanted;
    if (size > freed) return size <= (await readFreeStorage(act, this.#deps, freed));
    return size === 0 || (await readOverrun(act, this.#deps)) === 0;
  }

  #isStale(row = this.#row): boolean {
    return row !== null && this.#deps.clock.elapsed() >= row.staleAt;
  }

  /** For a sender that gives no length it takes twice as much, so that rows are written seldom. */
  async #grow(bytes: number): Promise<void> {
    const { accountId, length, budgets } = this.#wanted;
    const share = length ?? bytes * 2;
    if (budgets.length > 0) return this.#acquireOwnRow(Math.max(bytes, length ?? 0), share);
    const elapsed = this.#deps.clock.elapsed();
    const row = this.#rows.acquire(accountId, { row: this.#row, more: share - this.#share, elapsed });
    if (row === null) return this.#acquireRow(Math.max(bytes, length ?? 0), share);
    this.#row = row;
    this.#share = this.#granted = share;
  }

  /** A row of its own, with room to spare for the uploads that come next; what the last such row had left goes back. */
  async #acquireRow(least: number, most: number): Promise<void> {
    const { accountId } = this.#wanted;
    const { row, expiry, now } = this.#newRow();
    using replacing = this.#rows.replace(accountId);
    const granted = await actOn(this.#deps, accountId, async (act) => {
      await deleteExpiredHolds(act, now);
      if (this.#row !== null) await release(act, this.#row, this.#share);
      if (replacing.last !== null) await release(act, { ...replacing.last, spare: 0 }, replacing.left);
      const free = await readFreeStorage(act, this.#deps, this.#wanted.freed);
      if (least > free) throw new ServiceError("storage_quota");
      const share = Math.min(most, free);
      row.spare = replacing.isFirst && free - share >= AMPLE_BYTES ? SPARE_BYTES : 0;
      const columns = { id: row.id, account_id: accountId, expires_at: expiry };
      await insertHold(act, { ...columns, bytes: share + row.spare });
      return share;
    });
    replacing.with(row, this.#deps.clock.elapsed());
    this.#row = row;
    this.#share = this.#granted = granted;
  }

  /** A row that goes with this upload, and with it what its sender's budgets hold. */
  async #acquireOwnRow(least: number, most: number): Promise<void> {
    const { accountId, budgets, freed } = this.#wanted;
    const { row, expiry, now } = this.#newRow();
    const granted = await actOn(this.#deps, accountId, async (act) => {
      await deleteExpiredHolds(act, now);
      if (this.#row !== null) await release(act, this.#row, this.#share);
      const free = await readFreeStorage(act, this.#deps, freed);
      if (least > free) throw new ServiceError("storage_quota");
      const left = least === most ? most : await readBytesLeft(act, this.#deps, budgets);
      const share = Math.max(least, Math.min(most, free, left));
      await insertHold(act, { id: row.id, account_id: accountId, expires_at: expiry, bytes: share });
      const held = { of: { holdId: row.id }, expiresAt: expiry, bytes: share, freed };
      await holdBudgets(act, this.#deps, budgets, held);
      return share;
    });
    this.#row = row;
    this.#share = this.#granted = granted;
  }

  #newRow(): { readonly row: HoldRow; readonly expiry: number; readonly now: number } {
    const { clock, random, settings } = this.#deps;
    const now = clock.now();
    const row = { id: random.uuid(), spare: 0, staleAt: clock.elapsed() + AFTER_SILENCE_MS / 2 };
    return { row, expiry: now + holdLifetime(settings), now };
  }
}

function ignore(): void {}
