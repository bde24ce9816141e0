/**
 * TEST ONLY: the races that every driver of the database port must pass, with what must be true afterwards
 * (test/suites/database-races.ts runs them). They go through the app, as its callers do, and use no dialect.
 */
import { ACCOUNT_RACES } from "./accounts.test-kit.ts";
import { DELIVERY_RACES } from "./deliveries.test-kit.ts";
import { ITEM_RACES } from "./items.test-kit.ts";
import { SINGLE_USE_RACES } from "./single-use.test-kit.ts";

export { openWorlds, requireWhole, type World } from "./world.test-kit.ts";
export type { Race } from "./race.test-kit.ts";

export const RACES = [...ITEM_RACES, ...ACCOUNT_RACES, ...DELIVERY_RACES, ...SINGLE_USE_RACES];
