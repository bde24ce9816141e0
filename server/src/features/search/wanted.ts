/** The terms that a file must have to be found. */
import { isExact, termsIn, termsOfTime, wantedTerms } from "../search-index/terms.ts";
import type { TermQuery } from "../search-index/term-query.ts";
import type { Scope } from "./scope.ts";

/** Most vaults that a search names. */
const NAMED_VAULTS = 32;

interface Wanted {
  readonly words: readonly string[];
  readonly scope: Scope;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly query: {
    readonly type?: string | undefined;
    readonly by?: string | undefined;
    readonly since?: string | undefined;
    readonly until?: string | undefined;
  };
}

/** All files of the rank have them, and those of better ranks, as far as terms tell, have not. */
export function termsOfSearch(account: number, { words, scope, query, now }: Wanted, rank: 0 | 1 | 2): TermQuery {
  const terms = termsIn(account);
  const { type, by } = query;
  const { vaultIds, below } = scope;
  const all: (readonly string[])[] = words.flatMap((word) => wantedTerms(account, word, rank).map((term) => [term]));
  if (below?.folderIds != null) all.push(below.folderIds.map(terms.folder));
  else if (vaultIds !== null && vaultIds.size <= NAMED_VAULTS) all.push([...vaultIds].map(terms.vault));
  if (type !== undefined) all.push([terms.type(type.toLowerCase())]);
  if (by !== undefined) all.push([terms.author(by)]);
  const time = timeOf(account, query, now);
  if (time !== null) all.push(time);
  if (all.length === 0) all.push([terms.all]);
  const better = rank === 2 ? 1 : 0;
  const tells = better === 0 || words.every(isExact);
  return rank === 0 || !tells ? { all } : { all, not: words.flatMap((word) => wantedTerms(account, word, better)) };
}

const DAY = 86_400_000;

function timeOf(account: number, { since, until }: Wanted["query"], now: number): string[] | null {
  if (since === undefined) return null;
  const start = Date.parse(since);
  // Files are not from the future, but clocks are set back.
  const end = until === undefined ? now + DAY : Date.parse(until);
  const found = termsOfTime(account, start, end);
  return found?.length === 0 ? null : found;
}
