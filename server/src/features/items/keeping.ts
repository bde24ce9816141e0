/** How long what was replaced stays: versions and entries (decisions 0050 and 0051). */
import type { Deps } from "../../deps.ts";
import { prepared, type Queries } from "../../ports/database.ts";

/** How many of an item an author keeps at most, the current one included. */
export const KEPT_OF_AUTHOR = 100;

/** Dropped at once at most. An author is over the bound by one, or by what a shorter one left. */
export const DROPPED = 20;

const DAY = 24 * 60 * 60_000;

const keptDays = prepared((build, value: { vaultId: string }) =>
  build.selectFrom("vaults").select("keep_versions_days").where("id", "=", value.vaultId),
);

/** How long it stays if it is replaced now. Milliseconds since the Unix epoch. */
export async function readKeptUntil(
  queries: Queries,
  { settings }: Pick<Deps, "settings">,
  vaultId: string,
  now: number,
): Promise<number> {
  return now + keptFor(settings, (await queries.first(keptDays(queries, { vaultId })))?.keep_versions_days ?? null);
}

/** `days`: what the vault says; null: nothing. Milliseconds. */
export function keptFor({ timing }: Deps["settings"], days: number | null): number {
  return days === null ? timing.keepVersions : days * DAY;
}
