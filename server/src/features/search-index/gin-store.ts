/**
 * Terms in PostgreSQL: a `tsvector` without positions under GIN. GIN finds all that match before it answers the first, so a search goes
 * through ranges of ids, which grow. The first range answers a term that many files have. A term that few have is short in every range.
 * Each entry gets terms for its ranges, too, so that the index finds a range.
 */
import { type Compilable, type RawBuilder, sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import { FIRST_ENTRY, searchIdOf } from "./terms.ts";
import type { Part, TermsEntry, TermQuery, TermsStore } from "./term-query.ts";

/** How many ids each range has, from the smallest to the largest; each size is a part of the next. */
const RANGES = [2 ** 10, 2 ** 14, 2 ** 18, 2 ** 22] as const;

export const GIN: TermsStore = {
  id: "search_id",
  async put(transaction, entries) {
    if (entries.length > 0) await transaction.run(putAll(transaction, entries));
  },
  async list(queries, wanted, { after, count }) {
    const found: number[] = [];
    const { first, last } = await idsOf(queries, accountIn(wanted));
    for (let from = Math.max(first, after + 1), level = 0; from <= last && found.length < count;) {
      const size = RANGES[level] ?? 1;
      const part = { after: from - 1, count: count - found.length };
      found.push(...(await listRange(queries, wanted, rangeTerm(level, from), part)));
      from = (Math.floor(from / size) + 1) * size;
      const larger = RANGES[level + 1];
      if (larger !== undefined && from % larger === 0) level += 1;
    }
    return found;
  },
};

/** Names the range of a level that the id is in. */
function rangeTerm(level: number, searchId: number): string {
  return `r${String(level)}r${String(Math.floor(searchId / (RANGES[level] ?? 1)))}`;
}

function putAll(queries: Queries, entries: readonly TermsEntry[]): Compilable & { readonly hints: object } {
  const ids = entries.map(({ searchId }) => searchId);
  const terms = entries.map((entry) =>
    [...entry.terms, ...RANGES.map((_, level) => rangeTerm(level, entry.searchId))].join(" "),
  );
  const query = sql`insert into file_terms (search_id, terms)
    select id, array_to_tsvector(string_to_array(terms, ' ')) from unnest(${ids}::bigint[], ${terms}::text[]) as entry (id, terms)
    on conflict (search_id) do update set terms = excluded.terms`;
  return fixed(queries, query);
}

const scopeOf = prepared((build, value: { number: number }) =>
  build.selectFrom("search_scopes").select("next").where("number", "=", value.number),
);

/** Where the ids of an account begin, and end. */
async function idsOf(queries: Queries, account: number): Promise<{ readonly first: number; readonly last: number }> {
  const { next = FIRST_ENTRY + 1 } = (await queries.first(scopeOf(queries, { number: account }))) ?? {};
  return { first: searchIdOf(account, next), last: searchIdOf(account, FIRST_ENTRY) };
}

/** All terms of a query are of one account, whose number they begin with. */
function accountIn({ all }: TermQuery): number {
  const number = Number.parseInt(all[0]?.[0] ?? "", 10);
  if (Number.isNaN(number)) throw new Error("a search by terms names none");
  return number;
}

async function listRange(
  queries: Queries,
  wanted: TermQuery,
  range: string,
  { after, count }: Part,
): Promise<number[]> {
  // A sum is no column: so the primary key is not gone through row by row, which could take for ever.
  const query = sql<{
    id: number;
  }>`select search_id as id from file_terms where terms @@ ${render(wanted, range)}::tsquery
    and search_id + 0 > ${after} order by search_id + 0 limit ${count}`;
  return (await queries.all(fixed(queries, query))).map(({ id }) => id);
}

/** For a query whose text is always the same. */
function fixed<Row>(queries: Queries, query: RawBuilder<Row>): Compilable<Row> & { readonly hints: object } {
  return { hints: {}, compile: () => query.compile(queries.build) };
}

function render({ all, not = [] }: TermQuery, range: string): string {
  const quoted = (term: string) => `'${term.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  const joined = (terms: readonly string[], by: "&" | "|") => `(${terms.map(quoted).join(by)})`;
  const parts = [quoted(range), ...all.map((either) => joined(either, "|"))];
  return [...parts, ...(not.length === 0 ? [] : [`!${joined(not, "&")}`])].join("&");
}
