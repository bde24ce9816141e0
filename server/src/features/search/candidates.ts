/**
 * Ids of files that may fit, in order. What one request looks at is bounded. The work follows the rarest term: a term that few files
 * have names all candidates, whatever the others are.
 */
import { setImmediate } from "node:timers/promises";
import type { Queries } from "../../ports/database.ts";
import { listTrashedIds } from "../search-index/store.ts";
import type { TermQuery } from "../search-index/term-query.ts";
import { listIds } from "../search-index/terms-store.ts";
import { endOfBlock, termsIn, accountOf } from "../search-index/terms.ts";

/** A term that at most so many files have is rare. */
const FEW = 256;
/** Most files that one request reads, and most blocks of the index that it goes through. */
const MOST_ROWS = 2_000;
const MOST_BLOCKS = 8;

/** What the request has looked at so far. */
export interface Look {
  rows: number;
  blocks: number;
}

/** Ids to look at; or the bound, with the id after which the next request goes on. */
export type Candidates = { readonly isBound: false; readonly ids: readonly number[] } | Bound;
export interface Bound {
  readonly isBound: true;
  readonly after: number;
}

export interface CandidateQuery extends TermQuery {
  /** The account whose trash is searched; null: what is outside it. */
  readonly trashOf: string | null;
}

export async function* candidates(
  queries: Queries,
  { trashOf, ...wanted }: CandidateQuery,
  after: number,
  look: Look,
): AsyncGenerator<Candidates> {
  const few = await findFew(queries, { ...wanted, trashOf }, after);
  if (few !== null) yield* inTurns(few, after, look);
  else if (wanted.all.length === 1 && wanted.not === undefined) yield* walk(queries, wanted, after, look);
  else yield* walkBlocks(queries, wanted, after, look);
}

/** All ids of the first condition that only few files meet; null: many meet each. */
async function findFew(
  queries: Queries,
  { all, trashOf }: CandidateQuery,
  after: number,
): Promise<readonly number[] | null> {
  const part = { after, count: FEW + 1 };
  if (trashOf !== null) {
    const ids = await listTrashedIds(queries, trashOf, part);
    if (ids.length <= FEW) return ids;
  }
  for (const either of all) {
    const ids = await listIds(queries, { all: [either] }, part);
    if (ids.length <= FEW) return ids;
  }
  return null;
}

async function* inTurns(ids: readonly number[], start: number, look: Look): AsyncGenerator<Candidates> {
  for (let at = 0, after = start; at < ids.length;) {
    const room = MOST_ROWS - look.rows;
    if (room <= 0) {
      yield { isBound: true, after };
      return;
    }
    const some = ids.slice(at, at + room);
    look.rows += some.length;
    yield { isBound: false, ids: some };
    at += some.length;
    after = some.at(-1) ?? after;
  }
}

/** Along the list of one condition. */
async function* walk(queries: Queries, wanted: TermQuery, start: number, look: Look): AsyncGenerator<Candidates> {
  for (let after = start; ;) {
    const ids = await listIds(queries, wanted, { after, count: FEW });
    yield* inTurns(ids, after, look);
    if (ids.length < FEW) return;
    after = ids.at(-1) ?? after;
  }
}

/**
 * Files that meet several conditions, each of which many files meet. The index answers only when it has found one, so each query is
 * kept to one block.
 */
async function* walkBlocks(queries: Queries, wanted: TermQuery, start: number, look: Look): AsyncGenerator<Candidates> {
  for (let after = start; ;) {
    if (look.blocks >= MOST_BLOCKS) {
      yield { isBound: true, after };
      return;
    }
    look.blocks += 1;
    const next = await findNext(queries, wanted, after);
    if (next === null) return;
    const block = [termsIn(accountOf(next)).block(next)];
    yield* walk(queries, { ...wanted, all: [block, ...wanted.all] }, Math.max(after, next - 1), look);
    after = endOfBlock(next);
    await setImmediate();
  }
}

/** No file before it meets all conditions; null: none after `after` does. */
async function findNext(queries: Queries, { all }: TermQuery, after: number): Promise<number | null> {
  let next = after;
  for (const either of all) {
    const [first] = await listIds(queries, { all: [either] }, { after: Math.max(after, next - 1), count: 1 });
    if (first === undefined) return null;
    next = first;
  }
  return next;
}
