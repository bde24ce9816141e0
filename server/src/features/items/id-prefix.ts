/** Lists of what has an id that begins with some digits. */
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import type { ItemKind } from "../reach/kinds.ts";
import { tableOf } from "../reach/store.ts";

/** From the first id inclusively to the second. */
export type IdRange = readonly [from: string, to: string];

/** Where a UUID has its dashes. */
const GROUPS = /^(.{8})(.{0,4})(.{0,4})(.{0,4})(.*)$/;

/** null: every id. */
export function idRangeOf(prefix: string | undefined): IdRange | null {
  if (prefix === undefined) return null;
  const groups = GROUPS.exec(prefix.replaceAll("-", ""))?.slice(1) ?? [];
  const from = groups.filter((group) => group !== "").join("-");
  // No digit is behind f.
  return [from, `${from}g`];
}

/** Ids of all accounts that one look may find. Random ones are rarely alike. */
export const MOST_ALIKE = 100;

/**
 * Throws `validation_failed` where more ids begin alike: members of shared vaults choose ids of files, and a list must not read all that
 * somebody makes.
 */
export async function requireFew(queries: Queries, kind: ItemKind, [from, to]: IdRange): Promise<void> {
  const alike = queries.build
    .selectFrom(tableOf(kind))
    .select("id")
    .where("id", ">=", from)
    .where("id", "<", to)
    .limit(MOST_ALIKE + 1);
  if ((await queries.all(alike)).length > MOST_ALIKE)
    throw new ServiceError("validation_failed", "query.idPrefix: too many ids begin with it, send more digits");
}
