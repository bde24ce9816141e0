/**
 * Which files have a term (decision 0053): `file_terms`, which nothing else names. Each dialect has an index of words of its own, and both
 * answer the same.
 */
import { sql } from "kysely";
import { dialectOf, type Queries } from "../../ports/database.ts";
import { FTS5 } from "./fts5-store.ts";
import { GIN } from "./gin-store.ts";
import type { Part, TermQuery, TermsEntry, TermsStore } from "./term-query.ts";

function storeOf(queries: Queries): TermsStore {
  return dialectOf(queries) === "sqlite" ? FTS5 : GIN;
}

export function putTerms(transaction: Queries, entries: readonly TermsEntry[]): Promise<void> {
  return storeOf(transaction).put(transaction, entries);
}

export async function removeTerms(transaction: Queries, fileId: string): Promise<void> {
  const entryId = sql.ref(storeOf(transaction).id);
  const query = sql`delete from file_terms where ${entryId} = (select search_id from files where id = ${fileId})`;
  await transaction.run({ compile: () => query.compile(transaction.build) });
}

export function listIds(queries: Queries, wanted: TermQuery, part: Part): Promise<number[]> {
  return storeOf(queries).list(queries, wanted, part);
}
