/**
 * What execution costs. The prices are of the order of the real ones, so that budgets, refunds and empty purses behave as
 * on a real network; the amounts are not the real table's.
 */

/** In MIST per unit of computation. */
export const REFERENCE_GAS_PRICE = 1_000n;
export const MAX_GAS_BUDGET = 50_000_000_000n;
const MIN_BUDGET_UNITS = 2_000n;
/** A step of the interpreter is one unit; computation is paid in whole buckets. */
const BUCKETS = [1_000n, 5_000n, 10_000n, 20_000n, 50_000n, 200_000n, 1_000_000n, 5_000_000n];
/** 100 units a byte at 76 MIST. */
const STORAGE_PRICE = 7_600n;
/** Of what was paid for an object, this part per hundred comes back when it goes. */
const REBATE_PERCENT = 99n;
/** What 5,000,000 units buy. */
export const MAX_STEPS = 5_000_000;

export interface GasUsed {
  readonly computationCost: bigint;
  readonly storageCost: bigint;
  readonly storageRebate: bigint;
  readonly nonRefundableStorageFee: bigint;
}

export function minimumBudget(price: bigint): bigint {
  return MIN_BUDGET_UNITS * price;
}

export function computationCost(steps: number, price: bigint): bigint {
  const units = BUCKETS.find((bucket) => BigInt(steps) <= bucket) ?? BigInt(MAX_STEPS);
  return units * price;
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
