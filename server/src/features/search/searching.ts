/**
 * The search of files (decision 0053): rank by rank, in each the newest first. The index answers ids. Each file is read and compared
 * before it is shown: what the caller finds does not depend on the index.
 */
import { createHash } from "node:crypto";
import {
  DEFAULT_PAGE,
  isAuthor,
  isOfType,
  isShortWord,
  rankName,
  searchWords,
  type api,
  type HandlerInput,
} from "@coffer/contract";
import type { Principal } from "../../handler.ts";
import { type Database, DatabaseFullError, DatabaseUnavailableError, type Queries } from "../../ports/database.ts";
import { showAuthor } from "../items/authors.ts";
import { TreeActs } from "../tree-acts/acts.ts";
import { listTreeActs } from "../tree-acts/store.ts";
import { decodeCursor, encodeCursor } from "../paging.ts";
import type { ChainDeps } from "../reach/access.ts";
import {
  findAccountNumber,
  type FoundFile,
  listWaiting,
  LOOKED_AT,
  putWaiting,
  readFound,
} from "../search-index/store.ts";
import { entryOf, searchIdOf } from "../search-index/terms.ts";
import { type Bound, type CandidateQuery, candidates, type Look } from "./candidates.ts";
import { readScope, type Scope } from "./scope.ts";
import { termsOfSearch } from "./wanted.ts";

export type SearchQuery = HandlerInput<typeof api.files.search, never>["query"];

export interface FoundPage {
  readonly rows: readonly FoundFile[];
  readonly nextCursor: string | null;
  readonly complete: boolean;
}

type Rank = 0 | 1 | 2;

interface Search {
  readonly query: SearchQuery;
  readonly words: readonly string[];
  readonly scope: Scope;
  readonly principal: Principal;
  readonly now: number;
  readonly acts: TreeActs;
}

const NONE: FoundPage = { rows: [], nextCursor: null, complete: true };

/** Throws what {@link readScope} throws, and `validation_failed` for a cursor of another search. */
export async function searchFiles(deps: ChainDeps, principal: Principal, query: SearchQuery): Promise<FoundPage> {
  const scope = await readScope(deps, principal, query);
  const accountId = scope?.accountId ?? principal.accountId;
  const before = await listTreeActs(deps.database, accountId);
  if (before.length === 0) {
    const page = await searchIn(deps, deps.database, principal, { query, scope });
    if ((await listTreeActs(deps.database, accountId)).length === 0) return page;
  }
  // An act on a tree is under way: all reads see one state of its rows.
  return deps.database.snapshot((queries) => searchIn(deps, queries, principal, { query, scope }));
}

async function searchIn(
  deps: ChainDeps,
  queries: Queries,
  principal: Principal,
  { query, scope }: { readonly query: SearchQuery; readonly scope: Scope | null },
): Promise<FoundPage> {
  const { cursor, limit = DEFAULT_PAGE, ...asked } = query;
  const list = listOf(asked);
  const account = scope === null ? null : await findAccountNumber(queries, scope.accountId);
  const start: Place = cursor === undefined ? { rank: 0, after: 0 } : decodePlace(list, cursor, account ?? 0);
  if (scope === null || account === null || scope.vaultIds?.size === 0) return NONE;
  const acts = new TreeActs(await listTreeActs(queries, scope.accountId));
  const search = { query, words: searchWords(query.q ?? ""), scope, principal, now: deps.clock.now(), acts };
  const waiting =
    queries === deps.database
      ? await readWaiting(deps.database, scope.accountId)
      : await listWaiting(queries, scope.accountId);
  const look: Look = { rows: 0, blocks: 0 };
  const rows: FoundFile[] = [];
  let last: Place | null = null;
  const page = (nextCursor: string | null, complete: boolean): FoundPage => ({ rows, nextCursor, complete });
  for (const rank of ranksFrom(start.rank, search.words)) {
    // The index of the trash lacks what only counts as trashed.
    const ofTrash = query.trashed === true && acts.rows.length === 0;
    const terms = { ...termsOfSearch(account, search, rank), trashOf: ofTrash ? scope.accountId : null };
    const after = rank === start.rank ? start.after : 0;
    for await (const found of matches(queries, search, { rank, after, terms, look, waiting })) {
      if ("isBound" in found) return page(encodePlace(list, { rank, after: found.after }), false);
      if (rows.length === limit && last !== null) return page(encodePlace(list, last), true);
      rows.push(await acts.asWritten(queries, found, found.folder_id));
      last = { rank, after: found.search_id };
    }
  }
  return page(null, true);
}

/** Those whose entries wait. If there are many, they are written first; where that fails, they are looked at all the same. */
async function readWaiting(database: Database, accountId: string): Promise<FoundFile[]> {
  const waiting = await listWaiting(database, accountId);
  if (waiting.length <= LOOKED_AT) return waiting;
  try {
    await database.act([accountId], (transaction) => putWaiting(transaction, accountId));
  } catch (error) {
    if (!(error instanceof DatabaseFullError || error instanceof DatabaseUnavailableError)) throw error;
    return waiting;
  }
  return listWaiting(database, accountId);
}

interface Walk extends Place {
  readonly terms: CandidateQuery;
  readonly look: Look;
  /** Files whose entries wait, in order: what the index says of them, if anything, is of before. */
  readonly waiting: readonly FoundFile[];
}

/** The files of a rank in order, those that wait among the others. */
async function* matches(
  queries: Queries,
  search: Search,
  { rank, after, terms, look, waiting }: Walk,
): AsyncGenerator<FoundFile | Bound> {
  const waits = new Set(waiting.map((row) => row.search_id));
  const left: FoundFile[] = [];
  for (const row of waiting) if (row.search_id > after && (await fits(queries, row, search, rank))) left.push(row);
  const upTo = (id: number) => left.splice(0, left.filter((row) => row.search_id <= id).length);
  for await (const found of candidates(queries, terms, after, look)) {
    if (found.isBound) {
      yield* upTo(found.after);
      yield found;
      return;
    }
    for await (const row of readFound(queries, found.ids)) {
      yield* upTo(row.search_id);
      if (!waits.has(row.search_id) && (await fits(queries, row, search, rank))) yield row;
    }
  }
  yield* left;
}

/** Where words are too short to be looked for inside of others, the last rank has none. */
function ranksFrom(first: Rank, words: readonly string[]): Rank[] {
  const ranks: Rank[] = words.length === 0 ? [0] : words.every(isShortWord) ? [0, 1] : [0, 1, 2];
  return ranks.filter((rank) => rank >= first);
}

async function fits(
  queries: Queries,
  row: FoundFile,
  { query, words, scope, principal, acts }: Search,
  rank: Rank,
): Promise<boolean> {
  const { type, minSize = 0, maxSize = Number.MAX_SAFE_INTEGER, by, since, until, trashed = false } = query;
  if (row.account_id !== scope.accountId) return false;
  const { trashed_at } = await acts.asWritten(queries, row, row.folder_id);
  if ((trashed_at !== null) !== trashed) return false;
  if (scope.vaultIds !== null && !scope.vaultIds.has(row.vault_id)) return false;
  if (row.size < minSize || row.size > maxSize) return false;
  if (since !== undefined && row.created_at < Date.parse(since)) return false;
  if (until !== undefined && row.created_at >= Date.parse(until)) return false;
  if (type !== undefined && !isOfType(row.content_type, type)) return false;
  if (
    by !== undefined &&
    ![row.created_by, row.updated_by].some((author) => isAuthor(showAuthor(author, principal, row), by))
  )
    return false;
  if (rankName(searchWords(row.name), words) !== rank) return false;
  return scope.below === null || (await scope.below.has(queries, row.folder_id));
}

/** A cursor belongs to one search alone: to another, its place would mean nothing. */
function listOf(asked: Omit<SearchQuery, "cursor" | "limit">): string {
  const text = JSON.stringify(Object.entries(asked).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `search ${createHash("sha256").update(text).digest("hex")}`;
}

const NO_ID = "00000000-0000-0000-0000-000000000000";
const RANK = 2 ** 32;

interface Place {
  readonly rank: Rank;
  /** The id of the entry that was looked at last. */
  readonly after: number;
}

function encodePlace(list: string, { rank, after }: Place): string {
  return encodeCursor(list, { createdAt: rank * RANK + entryOf(after), id: NO_ID });
}

function decodePlace(list: string, cursor: string, account: number): Place {
  const { createdAt } = decodeCursor(list, cursor);
  return { rank: Math.floor(createdAt / RANK) as Rank, after: searchIdOf(account, createdAt % RANK) };
}
