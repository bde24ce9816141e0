/**
 * Each account's newest row of `upload_holds` of this process, and the part of it that no upload has taken. The next
 * uploads take their share without a transaction. Each is subtracted in the transaction that counts its bytes as
 * usage.
 */

export interface HoldRow {
  readonly id: string;
  /** Bytes. */
  spare: number;
  /** Nobody begins with it from then on, and who still sends takes another: it expires. Milliseconds that have elapsed: a clock that is set changes nothing. */
  readonly staleAt: number;
}

/** What a transaction puts in the place of the newest row. Without {@link Replacement.with} the old one stays. */
interface Replacement extends Disposable {
  /** Nobody else is replacing the account's row. */
  readonly isFirst: boolean;
  readonly last: HoldRow | null;
  /** What the last row had to spare. */
  readonly left: number;
  with(row: HoldRow, elapsed: number): void;
}

export class SpareRows {
  readonly #newest = new Map<string, HoldRow>();
  readonly #replaced = new Set<string>();

  /** The row with the share taken; null: it has not the room. `row`: what the upload has a share of already. */
  acquire(
    accountId: string,
    { row, more, elapsed }: { readonly row: HoldRow | null; readonly more: number; readonly elapsed: number },
  ): HoldRow | null {
    const newest = this.#newest.get(accountId) ?? null;
    if (newest === null || elapsed >= newest.staleAt || more > newest.spare || (row ?? newest) !== newest) return null;
    newest.spare -= more;
    return newest;
  }

  /** False: the row is not the newest any more. */
  release(accountId: string, row: HoldRow, bytes: number): boolean {
    if (this.#newest.get(accountId) !== row) return false;
    row.spare += bytes;
    return true;
  }

  /** Begun before the transaction, so that nobody takes meanwhile what it gives back. */
  replace(accountId: string): Replacement {
    const [newest, replaced] = [this.#newest, this.#replaced];
    const isFirst = !replaced.has(accountId);
    const last = isFirst ? (newest.get(accountId) ?? null) : null;
    const left = last?.spare ?? 0;
    let isDone = false;
    newest.delete(accountId);
    replaced.add(accountId);
    return {
      isFirst,
      last,
      left,
      with: (row, elapsed) => {
        isDone = true;
        if (last !== null) last.spare = 0;
        if (row.spare > 0) this.#put(accountId, row, elapsed);
      },
      [Symbol.dispose]: () => {
        if (!isFirst) return;
        replaced.delete(accountId);
        if (!isDone && last !== null) newest.set(accountId, last);
      },
    };
  }

  /** The oldest come first: those that are stale are forgotten on the way. */
  #put(accountId: string, row: HoldRow, elapsed: number): void {
    for (const [id, { staleAt }] of this.#newest) {
      if (staleAt > elapsed) break;
      this.#newest.delete(id);
    }
    this.#newest.set(accountId, row);
  }
}
