/**
 * Development lets every caller act as a user, and the keys that it gives out stay good: a production server on the same rows
 * would honour them. So a database belongs to the mode in which it was made.
 */
import { type Config, ConfigError, placeOf } from "../../config.ts";
import type { Queries } from "../../ports/database.ts";
import { recordMode } from "./store.ts";

/**
 * Notes the mode in a database that has no note: a new one, or one from before there were notes.
 * @throws ConfigError when the database was made in the other mode.
 */
export async function requireOrigin(database: Queries, config: Pick<Config, "database" | "mode">): Promise<void> {
  const made = await recordMode(database, config.mode);
  if (made === config.mode) return;
  const setting = config.database.kind === "sqlite" ? "SERVICE_DATA_DIR" : "SERVICE_DATABASE_URL";
  throw new ConfigError([
    `${setting}: ${placeOf(config.database)} was made in ${made}, and this is ${config.mode}: keys that development gave to anybody would count in production. Name a database of its own for each`,
  ]);
}
