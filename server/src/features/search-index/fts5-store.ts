/** Terms in SQLite: a table of FTS5 without content, which holds which files have a term, in the order of their ids. */
import { sql } from "kysely";
import { prepared } from "../../ports/database.ts";
import type { TermQuery, TermsStore } from "./term-query.ts";

const putOne = prepared((build, value: { searchId: number; terms: string }) => {
  const query = sql`insert or replace into file_terms (rowid, terms) values (cast(${value.searchId} as integer), ${value.terms})`;
  return { compile: () => query.compile(build) };
});

export const FTS5: TermsStore = {
  id: "rowid",
  // In the order of the ids FTS5 takes them as one part.
  async put(transaction, entries) {
    for (const { searchId, terms } of entries)
      await transaction.run(putOne(transaction, { searchId, terms: terms.join(" ") }));
  },
  async list(queries, wanted, { after, count }) {
    // FTS5 skips to a rowid that it gets as an integer, and reads up to any other.
    const query = queries.build
      .selectFrom(sql<{ id: number }>`file_terms`.as("entry"))
      .select(sql<number>`entry.rowid`.as("id"))
      .where(sql<boolean>`file_terms match ${render(wanted)}`)
      .where(sql<boolean>`entry.rowid > cast(${after} as integer)`)
      .orderBy(sql`entry.rowid`)
      .limit(count);
    return (await queries.all(query)).map((row) => row.id);
  },
};

function render({ all, not = [] }: TermQuery): string {
  const conjunction = (parts: readonly string[]) => `(${parts.join(" AND ")})`;
  const quoted = (term: string) => `"${term}"`;
  const wanted = conjunction(all.map((either) => `(${either.map(quoted).join(" OR ")})`));
  return not.length === 0 ? wanted : `${wanted} NOT ${conjunction(not.map(quoted))}`;
}
