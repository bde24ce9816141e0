/** A data directory whose rows are in PostgreSQL names their database in a file. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function addressFile(directory: string): string {
  return join(directory, "postgres-address");
}

/** null: the rows are in the directory itself. */
export function addressIn(directory: string): string | null {
  const file = addressFile(directory);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}
