/**
 * TEST ONLY: the races that every driver of the database port must pass, with what must be true afterwards
 * (test/suites/database-races.ts runs them). They go through the app, as its callers do, and use no dialect.
 */
import { ACCOUNT_RACES } from "./test-accounts.ts";
import { DELIVERY_RACES } from "./test-deliveries.ts";
import { ITEM_RACES } from "./test-items.ts";
import { SINGLE_USE_RACES } from "./test-single-use.ts";

export { openWorlds, requireWhole, type World } from "./test-world.ts";
export type { Race } from "./test-race.ts";

export const RACES = [...ITEM_RACES, ...ACCOUNT_RACES, ...DELIVERY_RACES, ...SINGLE_USE_RACES];
