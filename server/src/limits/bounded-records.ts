/**
 * Records by key in bounded memory, for keys that an attacker can make up (addresses, e-mails). Records in force (a
 * limit is refusing, a wait is on) are kept apart from the others. Each part gives up its own oldest record when it is
 * full. So an attacker who cycles through new keys pushes out records that refuse nobody. To push out one in force
 * takes `capacity` other keys that have each used up their whole quota since. In `inForce` the oldest is also the one
 * nearest to its end, because a record enters it at the moment its quota is used up.
 */
export class BoundedRecords<Value> {
  readonly #capacity: number;
  readonly #isOver: (value: Value, now: number) => boolean;
  /** Both in the order of last use. */
  readonly #open = new Map<string, Value>();
  readonly #inForce = new Map<string, Value>();

  /** `capacity`: of each part. `isOver`: the record says no more than its absence would. */
  constructor(capacity: number, isOver: (value: Value, now: number) => boolean) {
    this.#capacity = capacity;
    this.#isOver = isOver;
  }

  get size(): number {
    return this.#open.size + this.#inForce.size;
  }

  get(key: string): Value | undefined {
    return this.#open.get(key) ?? this.#inForce.get(key);
  }

  put(key: string, value: Value, inForce: boolean, now: number): void {
    const known = this.#open.delete(key) || this.#inForce.delete(key);
    const part = inForce ? this.#inForce : this.#open;
    part.set(key, value);
    if (!known) {
      this.#dropOver(this.#open, now);
      this.#dropOver(this.#inForce, now);
    }
    if (part.size > this.#capacity) dropOldest(part);
  }

  delete(key: string): void {
    this.#open.delete(key);
    this.#inForce.delete(key);
  }

  /** Two at a time: a part shrinks faster than it can grow, and no request pays for all the others. */
  #dropOver(part: Map<string, Value>, now: number): void {
    let left = 2;
    for (const [key, value] of part) {
      if (left === 0 || !this.#isOver(value, now)) return;
      part.delete(key);
      left -= 1;
    }
  }
}

function dropOldest(part: Map<string, unknown>): void {
  for (const key of part.keys()) {
    part.delete(key);
    return;
  }
}
