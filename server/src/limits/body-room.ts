/** The memory of request bodies that are held whole. Many connections that each hold back a part of one would fill it. */
import { ServiceError } from "../service-error.ts";

/** So much of each body is free: who takes the rest of the room keeps nobody from small requests. Bytes. */
export const FREE_BODY_BYTES = 16 * 1024;

const MIB = 1024 * 1024;

export interface BodyRoomSizes {
  /** For all holders together. Bytes. */
  readonly total: number;
  /** For one account, or one address without a credential. Bytes. */
  readonly share: number;
}

/** Owns what is held, by holder. */
export class BodyRoom {
  readonly #sizes: BodyRoomSizes;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(sizes: BodyRoomSizes = { total: 64 * MIB, share: 16 * MIB }) {
    this.#sizes = sizes;
  }

  /** A place for one body, which grows as the body arrives and ends with its disposal. */
  open(holder: string): BodyPlace {
    let held = 0;
    let free = FREE_BODY_BYTES;
    return {
      add: (bytes) => {
        const counted = Math.max(0, bytes - free);
        free = Math.max(0, free - bytes);
        if (counted === 0) return;
        this.#acquire(holder, counted);
        held += counted;
      },
      [Symbol.dispose]: () => {
        this.#release(holder, held);
        held = 0;
      },
    };
  }

  #acquire(holder: string, bytes: number): void {
    const own = (this.#held.get(holder) ?? 0) + bytes;
    if (own > this.#sizes.share)
      throw new ServiceError("rate_limited", "Too many large bodies at once", { headers: { "Retry-After": "1" } });
    if (this.#total + bytes > this.#sizes.total)
      throw new ServiceError("unavailable", "The server is reading too many large bodies");
    this.#held.set(holder, own);
    this.#total += bytes;
  }

  #release(holder: string, bytes: number): void {
    if (bytes === 0) return;
    this.#total -= bytes;
    const own = (this.#held.get(holder) ?? 0) - bytes;
    if (own > 0) this.#held.set(holder, own);
    else this.#held.delete(holder);
  }
}

export interface BodyPlace extends Disposable {
  /** Throws `rate_limited` when the holder has too much already, `unavailable` when all have. */
  add(bytes: number): void;
}
