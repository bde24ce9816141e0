/** The change list (decision 0052): who sees which rows, where a page begins, and the wait for the next change. */
import { type api, type Change, DEFAULT_PAGE, type HandlerInput } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers, Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { reaches } from "../acting.ts";
import { findChainEnds } from "../audit/store.ts";
import { decodeCursor, encodeCursor } from "../paging.ts";
import { type ChainDeps, readVaultOrTrashed, requireSight } from "../reach/access.ts";
import { type ChangeFilter, type ChangePage, findChange, hasChangeIn, readChanges } from "./change-page.ts";
import type { Heads } from "./heads.ts";
import type { OpenFeeds } from "./open-feeds.ts";

type Needs = ChainDeps & Pick<Deps, "database" | "clock"> & { readonly feeds: OpenFeeds; readonly heads: Heads };
type Query = HandlerInput<typeof api.changes.list, never>["query"];

export const changesHandlers = (deps: Needs): GroupHandlers<typeof api.changes> => ({
  async list({ query }, context) {
    if (query.wait === undefined) return render(query, await poll(deps, context.principal, query));
    using place = deps.feeds.open(`waiting ${context.principal.accountId}`, context.signal);
    const until = deps.clock.elapsed() + query.wait * 1000;
    for (let from: number | undefined; ;) {
      const seen = await poll(deps, context.principal, query, from);
      const isOver = place.signal.aborted || deps.clock.elapsed() >= until;
      if (seen.page.changes.length > 0 || !seen.page.isLast || isOver) return render(query, seen);
      from = seen.page.through;
      await deps.heads.beyond({ accountId: seen.accountId, after: seen.head, until }, place.signal);
      await context.recheck();
    }
  },
});

interface Seen {
  readonly accountId: string;
  readonly head: number;
  readonly page: ChangePage;
  /** The place after the page. */
  readonly cursor: string;
}

async function poll(deps: Needs, principal: Principal, query: Query, from?: number): Promise<Seen> {
  const { database } = deps;
  const { accountId, vaultIds, isMember } = await findSight(deps, principal, query.vaultId);
  const { since, until, by, folderId, kind, limit = DEFAULT_PAGE } = query;
  const times = { since: timeOf(since), until: timeOf(until) };
  const { head } = await readEnds(database, accountId);
  const start = from ?? (await findStart(database, accountId, query, head));
  const range = { accountId, after: start ?? 0, head, limit };
  const page = await readChanges(database, { vaultIds, by, folderId, kind, ...times }, range);
  // After the rows were read: what the retention removed until then may be missing among them.
  if (start !== null && start < (await readEnds(database, accountId)).removed) throw new ServiceError("cursor_expired");
  const last = await findChange(database, { accountId, sequence: page.through });
  const cursor = encodeCursor(listOf(accountId), { createdAt: page.through, id: last?.id ?? NONE });
  const changes = isMember ? page.changes.map(ofAnother) : page.changes;
  return { accountId, head, cursor, page: { ...page, changes } };
}

/** The id of no change: of the place before the first. */
const NONE = "00000000-0000-0000-0000-000000000000";
const listOf = (accountId: string): string => `changes ${accountId}`;
const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

async function readEnds(queries: Queries, accountId: string): Promise<{ head: number; removed: number }> {
  const ends = await findChainEnds(queries, accountId);
  return { head: ends?.head.sequence ?? 0, removed: ends?.before.sequence ?? 0 };
}

/**
 * The number that the caller has seen last; null: it asks for the oldest. A place that this log never had, such as one
 * from before a backup was restored, is as good as one that is gone.
 */
async function findStart(queries: Queries, accountId: string, query: Query, head: number): Promise<number | null> {
  const { cursor, after = null } = query;
  const place = cursor === undefined ? null : decodeCursor(listOf(accountId), cursor);
  const start = place?.createdAt ?? after;
  if (start === null) return null;
  const row = place === null ? null : await findChange(queries, { accountId, sequence: start });
  if (start > head || (row !== null && row.id !== place?.id)) throw new ServiceError("cursor_expired");
  return start;
}

interface Sight {
  readonly accountId: string;
  readonly vaultIds: ChangeFilter["vaultIds"];
  /** The vault is another account's. */
  readonly isMember: boolean;
}

/** Agents, and keys with a limit, see what lies in their vaults; members of another account the vault that they name. */
async function findSight(deps: Needs, principal: Principal, vaultId: string | undefined): Promise<Sight> {
  const { accountId } = principal;
  if (vaultId === undefined) return { accountId, vaultIds: visibleVaults(principal), isMember: false };
  const own = { accountId, vaultIds: [vaultId], isMember: false };
  try {
    const vault = await readVaultOrTrashed(deps.database, principal, vaultId);
    await requireSight(deps, principal, vault);
    return vault.standing === "member" ? { ...own, accountId: vault.account_id, isMember: true } : own;
  } catch (error) {
    // A vault that was deleted for good, or handed on, has a past all the same.
    const isGone = error instanceof ServiceError && error.code === "not_found" && reaches(principal, vaultId);
    if (isGone && (await hasChangeIn(deps.database, { accountId, vaultId }))) return own;
    throw error;
  }
}

/** What a caller sees without naming a vault. null: everything. */
export function visibleVaults({ accessLevel, vaultIds }: Principal): ChangeFilter["vaultIds"] {
  return vaultIds === null ? (accessLevel === "owner" ? null : "any") : [...vaultIds];
}

function ofAnother(change: Change): Change {
  return { ...change, actor: { ...change.actor, id: null } };
}

function render({ wait }: Query, { page, cursor }: Seen): { changes: Change[]; nextCursor: string | null } {
  return { changes: [...page.changes], nextCursor: page.isLast && wait === undefined ? null : cursor };
}
