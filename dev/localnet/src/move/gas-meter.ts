/**
 * The gas that Move code computes, in gas units, by the cost tables of Sui's gas model 11 and later (MystenLabs/sui,
 * `crates/sui-types/src/gas_model/tables.rs` and `sui-execution/latest/sui-adapter/src/gas_meter.rs`). It counts
 * pushed instructions, bytes and values over the whole transaction. The more there were, the more each costs. It
 * leaves out the charges of the framework's natives: they are less than a unit each.
 */
import { OutOfGasError } from "./errors.ts";

/** Places on the stack, and bytes, that an instruction pushes. */
export interface Charge {
  readonly pushes: number;
  readonly pops: number;
  readonly bytes: number;
}

/** From where on one more costs so many units. */
type Tiers = readonly (readonly [from: number, units: number])[];

const INSTRUCTIONS: Tiers = [
  [0, 1],
  [20_000, 2],
  [50_000, 10],
  [100_000, 50],
  [200_000, 100],
  [10_000_000, 1_000],
];
const HEIGHT: Tiers = [
  [0, 1],
  [1_000, 2],
  [10_000, 10],
];
const BYTES: Tiers = [
  [0, 1],
  [100_000, 2],
  [500_000, 5],
  [1_000_000, 100],
  [100_000_000, 1_000],
];
/** Thousandths of a unit for each byte of an object that is read. */
const READ_PRICE = 15;
const THOUSANDTHS = 1_000;

export class GasMeter {
  readonly #limit: number;
  readonly #instructions = new Tier(INSTRUCTIONS);
  readonly #bytes = new Tier(BYTES);
  readonly #height = new Tier(HEIGHT);
  /** In thousandths of a unit. */
  #spent = 0;

  /** @param limit in units. */
  constructor(limit: number) {
    this.#limit = limit * THOUSANDTHS;
  }

  /** Whole units, rounded down. */
  get units(): number {
    return Math.floor(this.#spent / THOUSANDTHS);
  }

  /** @throws OutOfGasError, with all that there was spent. */
  charge(instructions: number, { pushes, pops, bytes }: Charge): void {
    this.#instructions.add(instructions);
    this.#bytes.add(bytes);
    this.#height.add(pushes);
    const units = this.#instructions.price * instructions + this.#bytes.price * bytes + this.#height.price * pushes;
    // What is popped gives its place on the stack back, and not its bytes.
    this.#height.remove(pops);
    this.#spend(units * THOUSANDTHS);
  }

  /** @throws OutOfGasError. */
  chargeRead(bytes: number): void {
    this.#spend(bytes * READ_PRICE);
  }

  #spend(thousandths: number): void {
    this.#spent += thousandths;
    if (this.#spent <= this.#limit) return;
    this.#spent = this.#limit;
    throw new OutOfGasError("the transaction computes more than its budget pays for");
  }
}

/** Counts one thing, and the cost of one more of it. The price never falls again. */
class Tier {
  readonly #tiers: Tiers;
  #count = 0;
  #at = 0;

  constructor(tiers: Tiers) {
    this.#tiers = tiers;
  }

  get price(): number {
    return this.#tiers[this.#at]?.[1] ?? 1;
  }

  add(more: number): void {
    this.#count += more;
    while (this.#count > (this.#tiers[this.#at + 1]?.[0] ?? Infinity)) this.#at += 1;
  }

  remove(less: number): void {
    this.#count = Math.max(0, this.#count - less);
  }
}
