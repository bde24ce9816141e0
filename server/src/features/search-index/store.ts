/**
 * The SQL of the index of names (decision 0053). In SQLite it is a table of FTS5 without content: `file_terms` holds which files have a
 * term, in the order of their ids. Nothing else names that table, so that another database can bring its own.
 */
import { type Compilable, type RawBuilder, sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { FileRow } from "../../ports/tables.ts";
import { inPieces } from "../in-pieces.ts";
import { FIRST_ENTRY, type IndexedFile, isSearchable, searchIdOf, termsOf } from "./terms.ts";

const compiled = <Row>(queries: Queries, query: RawBuilder<Row>): Compilable<Row> => ({
  compile: () => query.compile(queries.build),
});

const nextEntry = prepared((build, value: { accountId: string }) =>
  build
    .insertInto("search_scopes")
    .values((row) => ({
      account_id: value.accountId,
      number: row.selectFrom("search_scopes").select(sql<number>`coalesce(max(number), 0) + 1`.as("number")),
      next: FIRST_ENTRY,
    }))
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet({ next: sql<number>`search_scopes.next - 1` }))
    .returning(["number", "next"]),
);

/** The id of a new entry; null for a file whose name only members can read. */
export async function newSearchId(transaction: Queries, file: IndexedFile): Promise<number | null> {
  if (!isSearchable(file)) return null;
  const scope = await transaction.first(nextEntry(transaction, { accountId: file.account_id }));
  if (scope === null) throw new Error("the scope of an account's search has no row");
  return searchIdOf(scope.number, scope.next);
}

/** The entry of a file, new or changed. */
export async function putEntry(transaction: Queries, file: IndexedFile, searchId: number): Promise<void> {
  const terms = termsOf(file, searchId).join(" ");
  const query = sql`insert or replace into file_terms (rowid, terms) values (cast(${searchId} as integer), ${terms})`;
  await transaction.run(compiled(transaction, query));
}

const COLUMNS = [
  ...(["id", "account_id", "vault_id", "folder_id", "name"] as const),
  ...(["content_type", "shared_json", "created_at", "created_by", "updated_by"] as const),
];

type Changes = Partial<Record<keyof IndexedFile, unknown>>;

/** Brings the entry of a changed file up to date, if the change is one that it is found by. */
export async function updateEntry(transaction: Queries, id: string, changes: Changes): Promise<void> {
  if (!COLUMNS.some((column) => Object.hasOwn(changes, column))) return;
  const query = transaction.build
    .selectFrom("files")
    .select([...COLUMNS, searchId])
    .where("id", "=", id);
  const file = await transaction.first(query);
  if (file !== null && file.search_id !== null) await putEntry(transaction, file, file.search_id);
}

const searchId = sql<number | null>`search_id`.as("search_id");

/** Files that changed their account get entries in it, oldest first. */
export async function moveEntries(transaction: Queries, vaultId: string): Promise<void> {
  const { build } = transaction;
  const files = build
    .selectFrom("files")
    .select([...COLUMNS, searchId])
    .where("vault_id", "=", vaultId);
  const indexed = files
    .where(sql<boolean>`search_id is not null`)
    .orderBy("created_at")
    .orderBy("id");
  await inPieces(await transaction.all(indexed), (piece) => addEntries(transaction, piece));
}

/** New entries for files that are there. */
export async function addEntries(transaction: Queries, files: readonly IndexedFile[]): Promise<void> {
  for (const file of files) {
    const id = await newSearchId(transaction, file);
    if (id === null) continue;
    await removeEntry(transaction, file.id);
    await transaction.run(compiled(transaction, sql`update files set search_id = ${id} where id = ${file.id}`));
    await putEntry(transaction, file, id);
  }
}

async function removeEntry(transaction: Queries, fileId: string): Promise<void> {
  const query = sql`delete from file_terms where rowid = (select search_id from files where id = ${fileId})`;
  await transaction.run(compiled(transaction, query));
}

/** Files have a term of each list in `all`, and not every term of `not`. */
export interface TermQuery {
  readonly all: readonly (readonly string[])[];
  readonly not?: readonly string[];
}

function render({ all, not = [] }: TermQuery): string {
  const conjunction = (parts: readonly string[]) => `(${parts.join(" AND ")})`;
  const quoted = (term: string) => `"${term}"`;
  const wanted = conjunction(all.map((either) => `(${either.map(quoted).join(" OR ")})`));
  return not.length === 0 ? wanted : `${wanted} NOT ${conjunction(not.map(quoted))}`;
}

/** At most `count` ids after `after`, in order: those of the newest files first. */
export async function listIds(
  queries: Queries,
  wanted: TermQuery,
  { after, count }: { readonly after: number; readonly count: number },
): Promise<number[]> {
  // FTS5 skips to a rowid that it gets as an integer, and reads up to any other.
  const query = queries.build
    .selectFrom(sql<{ id: number }>`file_terms`.as("entry"))
    .select(sql<number>`entry.rowid`.as("id"))
    .where(sql<boolean>`file_terms match ${render(wanted)}`)
    .where(sql<boolean>`entry.rowid > cast(${after} as integer)`)
    .orderBy(sql`entry.rowid`)
    .limit(count);
  return (await queries.all(query)).map((row) => row.id);
}

/** The same of what lies in an account's trash. */
export async function listTrashedIds(
  queries: Queries,
  accountId: string,
  { after, count }: { readonly after: number; readonly count: number },
): Promise<number[]> {
  const query = queries.build
    .selectFrom("files")
    .select(sql<number>`search_id`.as("id"))
    .where("account_id", "=", accountId)
    .where("trashed_at", "is not", null)
    .where(sql<boolean>`search_id > ${after}`)
    .orderBy(sql`search_id`)
    .limit(count);
  return (await queries.all(query)).map((row) => row.id);
}

export interface FoundFile extends FileRow {
  search_id: number;
}

/** How many files one read takes. */
const READ = 64;

/** The files of the ids, in the order of the ids, some at a time. */
export async function* readFound(queries: Queries, ids: readonly number[]): AsyncGenerator<FoundFile> {
  for (let at = 0; at < ids.length; at += READ) {
    const some = ids.slice(at, at + READ);
    // As many values each time make one statement.
    const values = Array.from({ length: READ }, (_, index) => some[index] ?? some[0]);
    const query = queries.build
      .selectFrom("files")
      .selectAll()
      .where(sql<boolean>`search_id in (${sql.join(values)})`)
      .orderBy(sql`search_id`);
    yield* (await queries.all(query)) as unknown as FoundFile[];
  }
}

const scopeOf = prepared((build, value: { accountId: string }) =>
  build.selectFrom("search_scopes").select("number").where("account_id", "=", value.accountId),
);

/** The number of an account in terms; null: it has no entry. */
export async function findAccountNumber(queries: Queries, accountId: string): Promise<number | null> {
  return (await queries.first(scopeOf(queries, { accountId })))?.number ?? null;
}
