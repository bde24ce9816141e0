/** The SQL of lists that go from the newest to the oldest, page by page. */
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import { prepared, type Queries } from "../ports/database.ts";
import type { Tables } from "../ports/tables.ts";
import type { PageRequest } from "./paging.ts";

type Values = Readonly<Record<string, string | number>>;
type Rows<From extends keyof Tables, Row> = SelectQueryBuilder<Tables, From, Row>;

/**
 * Lists the rows of `define`, of one table that has `created_at` and `id`: in one query with the page's limit,
 * compiled once. It gives one row more than the page holds, so that the caller can see whether another page follows.
 */
export function newest<Given extends Values, From extends keyof Tables, Row>(
  define: (build: Kysely<Tables>, value: Given) => Rows<From, Row>,
): (queries: Queries, given: Given, page: PageRequest) => Promise<Row[]> {
  const first = prepared((build, value: Given & { limit: number }) => inOrder(define(build, value), value.limit));
  const after = prepared((build, value: Given & { limit: number; createdAt: number; id: string }) =>
    inOrder(
      define(build, value).where(sql<boolean>`(created_at, id) < (${value.createdAt}, ${value.id})`),
      value.limit,
    ),
  );
  return (queries, given, page) => {
    const limit = page.limit + 1;
    return queries.all(
      page.after === null
        ? first(queries, { ...given, limit })
        : after(queries, { ...given, limit, createdAt: page.after.createdAt, id: page.after.id }),
    );
  };
}

function inOrder<From extends keyof Tables, Row>(query: Rows<From, Row>, limit: number): Rows<From, Row> {
  return query
    .orderBy(sql`created_at`, "desc")
    .orderBy(sql`id`, "desc")
    .limit(limit);
}
