/** What execution costs, as on a real network: what is computed is counted by `move/gas-meter.ts`, what is stored by its bytes. */

/** In MIST per unit of computation. */
export const REFERENCE_GAS_PRICE = 1_000n;
export const MAX_GAS_BUDGET = 50_000_000_000n;
const MIN_BUDGET_UNITS = 2_000n;
/** Computation is paid in whole thousands of units (the protocol's `gas_rounding_step`). */
const ROUNDING_UNITS = 1_000n;
/** 100 units a byte at 76 MIST. */
const STORAGE_PRICE = 7_600n;
/** The percentage of an object's storage cost that comes back when it goes. */
const REBATE_PERCENT = 99n;
/** The most that any budget buys (the protocol's `max_gas_computation_bucket`). */
const MAX_UNITS = 5_000_000n;

export interface GasUsed {
  readonly computationCost: bigint;
  readonly storageCost: bigint;
  readonly storageRebate: bigint;
  readonly nonRefundableStorageFee: bigint;
}

export function minimumBudget(price: bigint): bigint {
  return MIN_BUDGET_UNITS * price;
}

/** How many units of computation a budget buys. */
export function unitsIn(budget: bigint, price: bigint): number {
  const units = budget / price;
  return Number(units < MAX_UNITS ? units : MAX_UNITS);
}

/** In MIST, for units of computation. */
export function computationCost(units: number, price: bigint): bigint {
  const used = BigInt(units);
  const rounded = used > 0n && used % ROUNDING_UNITS === 0n ? used : (used / ROUNDING_UNITS + 1n) * ROUNDING_UNITS;
  return rounded * price;
}

export function storageCost(bytes: number): bigint {
  return BigInt(bytes) * STORAGE_PRICE;
}

/** `rebates` is what was paid for the objects that are written anew or deleted. */
export function gasUsed(computation: bigint, storage: bigint, rebates: bigint): GasUsed {
  const storageRebate = (rebates * REBATE_PERCENT) / 100n;
  return {
    computationCost: computation,
    storageCost: storage,
    storageRebate,
    nonRefundableStorageFee: rebates - storageRebate,
  };
}

/** Negative when more comes back than is paid. */
export function netCost(used: GasUsed): bigint {
  return used.computationCost + used.storageCost - used.storageRebate;
}
