/** One page of the change feed: filters by index, a bounded number of rows, and the place where the next page begins. */
import type { Change } from "@coffer/contract";
import { prepared, type Queries } from "../../ports/database.ts";
import type { ChangeRow } from "../../ports/tables.ts";
import { listActions } from "../audit/store.ts";
import { toChange } from "./change.ts";

/** Rows that one page reads, however few of them fit the filters. */
export const SCANNED = 1000;
/** So many vaults of a limited key are read by their index; those of a longer list are sorted out. */
const MOST_VAULTS = 16;
/** Changes of one account are in the order of their times as far as clocks of server processes agree. */
const CLOCK_SLACK = 5 * 60_000;

/** The rows that a caller may see, and wants. */
export interface ChangeFilter {
  /** null: all vaults, and what belongs to none. */
  readonly vaultIds: readonly string[] | "any" | null;
  /** Id or chain address of the actor. */
  readonly by?: string | undefined;
  readonly folderId?: string | undefined;
  /** An action, or the word before its dot. */
  readonly kind?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface ChangeRange {
  readonly accountId: string;
  readonly after: number;
  /** The newest change that exists. */
  readonly head: number;
  readonly limit: number;
}

export interface ChangePage {
  readonly changes: readonly Change[];
  /** Every change up to this number was looked at. */
  readonly through: number;
  /** Nothing more is there. */
  readonly isLast: boolean;
}

type Column = "actor_id" | "actor_address" | "folder_id" | "vault_id" | "action";
type Along = { accountId: string; value: string; after: number; through: number; limit: number };

const along = (column: Column) =>
  prepared((build, value: Along) =>
    build
      .selectFrom("changes")
      .selectAll()
      .where("account_id", "=", value.accountId)
      .where(column, "=", value.value)
      .where("sequence", ">", value.after)
      .where("sequence", "<=", value.through)
      .orderBy("sequence")
      .limit(value.limit),
  );

const ALONG: Readonly<Record<Column, ReturnType<typeof along>>> = {
  actor_id: along("actor_id"),
  actor_address: along("actor_address"),
  folder_id: along("folder_id"),
  vault_id: along("vault_id"),
  action: along("action"),
};

const between = prepared((build, value: Omit<Along, "value">) =>
  build
    .selectFrom("changes")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .where("sequence", ">", value.after)
    .where("sequence", "<=", value.through)
    .orderBy("sequence")
    .limit(value.limit),
);

export async function readChanges(queries: Queries, filter: ChangeFilter, range: ChangeRange): Promise<ChangePage> {
  const { accountId, head, limit } = range;
  const { since, until } = filter;
  const first = since === undefined ? 0 : await firstFrom(queries, range, since - CLOCK_SLACK);
  const after = Math.max(range.after, first - 1);
  const end = until === undefined ? head : (await firstFrom(queries, range, until + CLOCK_SLACK + 1)) - 1;
  const through = Math.max(after, end);
  const kinds = filter.kind === undefined ? null : await listActions(queries, accountId, filter.kind);
  const [column, values] = driving(filter, kinds);
  const fits = (row: ChangeRow): boolean => fitsFilter(row, filter, kinds);
  const all = { accountId, after, through, limit: Math.ceil(SCANNED / values.length) };
  const found = await Promise.all(
    values.map((value) =>
      queries.all(column === null ? between(queries, all) : ALONG[column](queries, { ...all, value })),
    ),
  );
  // A source that was cut short says nothing about what comes after its last row.
  const cut = found.filter((rows) => rows.length === all.limit).map((rows) => rows.at(-1)?.sequence ?? after);
  const known = Math.min(through, ...cut);
  const rows = found
    .flat()
    .filter((row) => row.sequence <= known && fits(row))
    .sort((a, b) => a.sequence - b.sequence);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    changes: rows.slice(0, limit).map(toChange),
    through: last?.sequence ?? known,
    isLast: last === undefined && known === through,
  };
}

/** The narrowest index there is for the filter, and what to look up in it. */
function driving(filter: ChangeFilter, kinds: readonly string[] | null): [Column | null, readonly string[]] {
  const { by, folderId, vaultIds } = filter;
  if (folderId !== undefined) return ["folder_id", [folderId]];
  if (by !== undefined) return [isAddress(by) ? "actor_address" : "actor_id", [by]];
  if (Array.isArray(vaultIds) && vaultIds.length <= MOST_VAULTS) return ["vault_id", vaultIds];
  return kinds === null ? [null, [""]] : ["action", kinds];
}

function fitsFilter(row: ChangeRow, filter: ChangeFilter, kinds: readonly string[] | null): boolean {
  const { vaultIds, by, folderId, since, until } = filter;
  if (!inVaults(row, vaultIds)) return false;
  if (by !== undefined && by !== (isAddress(by) ? row.actor_address : row.actor_id)) return false;
  if (folderId !== undefined && folderId !== row.folder_id) return false;
  if (kinds !== null && !kinds.includes(row.action)) return false;
  return (since === undefined || row.occurred_at >= since) && (until === undefined || row.occurred_at <= until);
}

/** `vaultIds` as in {@link ChangeFilter}. */
export function inVaults({ vault_id }: ChangeRow, vaultIds: ChangeFilter["vaultIds"]): boolean {
  return vaultIds === null || (vault_id !== null && (vaultIds === "any" || vaultIds.includes(vault_id)));
}

function isAddress(by: string): boolean {
  return by.startsWith("0x");
}

const oldest = prepared((build, value: { accountId: string }) =>
  build.selectFrom("changes").select("sequence").where("account_id", "=", value.accountId).orderBy("sequence").limit(1),
);

const at = prepared((build, value: { accountId: string; sequence: number }) =>
  build
    .selectFrom("changes")
    .select(["id", "occurred_at"])
    .where("account_id", "=", value.accountId)
    .where("sequence", "=", value.sequence),
);

/** The id and time of one change; null: it is not there, or not any more. */
export function findChange(queries: Queries, value: { accountId: string; sequence: number }) {
  return queries.first(at(queries, value));
}

const anyIn = prepared((build, value: { accountId: string; vaultId: string }) =>
  build
    .selectFrom("changes")
    .select("sequence")
    .where("account_id", "=", value.accountId)
    .where("vault_id", "=", value.vaultId)
    .limit(1),
);

/** Whether the account has a change in that vault. */
export async function hasChangeIn(queries: Queries, value: { accountId: string; vaultId: string }): Promise<boolean> {
  return (await queries.first(anyIn(queries, value))) !== null;
}

/** The number of the first change from a time on, by halves; one beyond the head where all are earlier. */
async function firstFrom(queries: Queries, { accountId, head }: ChangeRange, time: number): Promise<number> {
  let low = (await queries.first(oldest(queries, { accountId })))?.sequence ?? head + 1;
  for (let high = head + 1; low < high;) {
    const middle = Math.floor((low + high) / 2);
    const row = await findChange(queries, { accountId, sequence: middle });
    if (row !== null && row.occurred_at >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}
