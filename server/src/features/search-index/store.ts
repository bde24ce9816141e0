/** The SQL of the index of names (decision 0053): which files are in it, and which wait. What they are found by: terms-store.ts. */
import { type Compilable, type RawBuilder, sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import { lockName } from "../../ports/leases.ts";
import type { FileRow } from "../../ports/tables.ts";
import { inPieces } from "../in-pieces.ts";
import type { TermsEntry } from "./term-query.ts";
import { putTerms, removeTerms } from "./terms-store.ts";
import { FIRST_ENTRY, type IndexedFile, isSearchable, searchIdOf, termsOf } from "./terms.ts";

const compiled = <Row>(queries: Queries, query: RawBuilder<Row>): Compilable<Row> => ({
  compile: () => query.compile(queries.build),
});

/**
 * Entries that wait are written together: one by one each costs several times as much. A search writes them when there are more than it
 * looks at, and an act that adds the last of so many.
 */
const TURN = 250;
/** Most that a search looks at. */
export const LOOKED_AT = 128;

const next = { next: sql<number>`search_scopes.next - 1` };
const first = (build: Queries["build"]) => ({
  number: build.selectFrom("search_scopes").select(sql<number>`coalesce(max(number), 0) + 1`.as("number")),
  next: FIRST_ENTRY,
});

const nextEntry = prepared((build, value: { accountId: string }) =>
  build
    .updateTable("search_scopes")
    .set((row) => ({ next: row("next", "-", 1), waiting: row("waiting", "+", 1) }))
    .where("account_id", "=", value.accountId)
    .returning(["number", "next", "waiting"]),
);

const firstEntry = prepared((build, value: { accountId: string }) =>
  build
    .insertInto("search_scopes")
    .values({ account_id: value.accountId, ...first(build), waiting: 1 })
    .returning(["number", "next", "waiting"]),
);

/**
 * The id of a new entry, which waits; null for a file whose name only members can read. `isTurn`: those that wait are to be written now
 * ({@link putWaiting}).
 */
export async function newEntry(
  transaction: Queries,
  file: IndexedFile,
): Promise<{ readonly searchId: number; readonly isTurn: boolean } | null> {
  if (!isSearchable(file)) return null;
  const account = { accountId: file.account_id };
  const scope =
    (await transaction.first(nextEntry(transaction, account))) ??
    (await takingNumber(transaction, () => transaction.first(firstEntry(transaction, account))));
  if (scope === null) throw new Error("the scope of an account's search has no row");
  return { searchId: searchIdOf(scope.number, scope.next), isTurn: scope.waiting >= TURN };
}

/** Accounts get their numbers one after the other: the next one is the highest and one. */
async function takingNumber<Result>(transaction: Queries, take: () => Promise<Result>): Promise<Result> {
  await lockName(transaction, "numbers of accounts in the index of names");
  return take();
}

const COLUMNS = [
  ...(["id", "account_id", "vault_id", "folder_id", "name"] as const),
  ...(["content_type", "shared_json", "created_at", "created_by", "updated_by"] as const),
];

type Changes = Partial<Record<keyof IndexedFile, unknown>>;

/** Whether a change is one of what a file is found by. */
export function isFoundByOther(known: Changes, changes: Changes): boolean {
  return COLUMNS.some((column) => Object.hasOwn(changes, column) && changes[column] !== known[column]);
}

/** A file with an entry waits for another. */
export const WAITS = { search_waits: sql<number | null>`case when search_id is null then null else 1 end` };

const countWaiting = prepared((build, value: { accountId: string }) =>
  build
    .updateTable("search_scopes")
    .set((row) => ({ waiting: row("waiting", "+", 1) }))
    .where("account_id", "=", value.accountId)
    .returning("waiting"),
);

/** One more file of the account waits. */
export async function countWaitingFile(transaction: Queries, accountId: string): Promise<void> {
  const scope = await transaction.first(countWaiting(transaction, { accountId }));
  if (scope !== null && scope.waiting >= TURN) await putWaiting(transaction, accountId);
}

const waitingOf = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("files")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .where(sql<boolean>`search_waits is not null`),
);

/** The files whose entries wait, the newest first: about {@link TURN} at most. */
export async function listWaiting(queries: Queries, accountId: string): Promise<FoundFile[]> {
  const files = (await queries.all(waitingOf(queries, { accountId }))) as unknown as FoundFile[];
  return files.toSorted((a, b) => a.search_id - b.search_id);
}

const noneWaits = prepared((build, value: { accountId: string }) =>
  build
    .updateTable("files")
    .set({ search_waits: null } as object)
    .where("account_id", "=", value.accountId)
    .where(sql<boolean>`search_waits is not null`),
);

const countNone = prepared((build, value: { accountId: string }) =>
  build.updateTable("search_scopes").set({ waiting: 0 }).where("account_id", "=", value.accountId),
);

/** The entries that wait, in the order of their ids. */
export async function putWaiting(transaction: Queries, accountId: string): Promise<void> {
  const files = await listWaiting(transaction, accountId);
  await putTerms(
    transaction,
    files.map((file) => entryFor(file, file.search_id)),
  );
  await transaction.run(noneWaits(transaction, { accountId }));
  await transaction.run(countNone(transaction, { accountId }));
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

/** It does not wait. */
const entryAtOnce = prepared((build, value: { accountId: string }) =>
  build
    .insertInto("search_scopes")
    .values({ account_id: value.accountId, ...first(build) } as never)
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet(next))
    .returning(["number", "next"]),
);

/** New entries for files that are there. */
export async function addEntries(transaction: Queries, files: readonly IndexedFile[]): Promise<void> {
  for (const file of files) {
    if (!isSearchable(file)) continue;
    const account = { accountId: file.account_id };
    const put = () => transaction.first(entryAtOnce(transaction, account));
    const isNew = (await findAccountNumber(transaction, file.account_id)) === null;
    const scope = await (isNew ? takingNumber(transaction, put) : put());
    if (scope === null) throw new Error("the scope of an account's search has no row");
    const id = searchIdOf(scope.number, scope.next);
    await removeTerms(transaction, file.id);
    await transaction.run(compiled(transaction, sql`update files set search_id = ${id} where id = ${file.id}`));
    await putTerms(transaction, [entryFor(file, id)]);
  }
}

/** The entries of files whose rows came from another database, with their ids. */
export async function indexAgain(transaction: Queries, files: readonly FoundFile[]): Promise<void> {
  await putTerms(
    transaction,
    files.map((file) => entryFor(file, file.search_id)),
  );
}

function entryFor(file: IndexedFile, id: number): TermsEntry {
  return { searchId: id, terms: termsOf(file, id) };
}

/** The ids of what lies in an account's trash: at most `count` after `after`, in order. */
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
