/** The SQL of vaults. Every look-up is by id and account (no row of another account can come back). */
import { type ExpressionBuilder, type SelectQueryBuilder, sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { Tables, VaultRow } from "../../ports/tables.ts";
import { countVersionsOf } from "../files/kept-versions-store.ts";
import type { IdRange } from "../items/id-prefix.ts";
import { listEndedItemsIn } from "../items/history-removal-store.ts";
import type { PageRequest } from "../paging.ts";
import type { OwnedVault } from "../reach/store.ts";

export interface VaultContents {
  readonly files: number;
  readonly folders: number;
  readonly trashedFiles: number;
  readonly trashedFolders: number;
  /** What counts of all files and their versions, trash included. */
  readonly bytes: number;
  /** The part of `bytes` that counts for replaced versions. */
  readonly versionBytes: number;
}

/** SQLite counts in numbers, PostgreSQL in bigints, which its driver gives as text. */
type Count = number | string;

const byName = prepared((build, value: { name: string; accountId: string }) =>
  build
    .selectFrom("vaults")
    .select("id")
    .where("account_id", "=", value.accountId)
    .where("name", "=", value.name)
    .where("trashed_at", "is", null),
);

/** Name of a live vault: a vault in the trash has given its name free. */
export async function findVaultIdByName(
  queries: Queries,
  value: { name: string; accountId: string },
): Promise<string | null> {
  return (await queries.first(byName(queries, value)))?.id ?? null;
}

const byChainObject = prepared((build, value: { chainObjectId: string }) =>
  build.selectFrom("vaults").select("id").where("chain_object_id", "=", value.chainObjectId),
);

/** A vault of any account: a chain object has one vault. */
export async function findVaultIdByChainObject(
  queries: Queries,
  value: { chainObjectId: string },
): Promise<string | null> {
  return (await queries.first(byChainObject(queries, value)))?.id ?? null;
}

const counting = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("vaults")
    .select((eb) => eb.fn.countAll<Count>().as("count"))
    .where("account_id", "=", value.accountId)
    .where("purging_bytes", "is", null),
);

/** Those in the trash are counted. */
export async function countVaults(queries: Queries, accountId: string): Promise<number> {
  return Number((await queries.first(counting(queries, { accountId })))?.count ?? 0);
}

export interface VaultFilter {
  readonly accountId: string;
  /** null: all of the account. */
  readonly vaultIds: ReadonlySet<string> | null;
  readonly type: string | undefined;
  readonly ids?: IdRange | null;
  /** Vaults in the trash, and no others; absent: those outside it. */
  readonly trashed?: boolean;
}

/** One more row than the page holds; at most 1,000 vaults belong to an account, so a list of ids stays small. */
export function listVaults(
  queries: Queries,
  filter: VaultFilter,
  { after, limit }: PageRequest,
): Promise<OwnedVault[]> {
  let query = queries.build
    .selectFrom("vaults")
    .innerJoin("accounts", "accounts.id", "vaults.account_id")
    .selectAll("vaults")
    .select("accounts.default_vault_id")
    .where("vaults.account_id", "=", filter.accountId)
    .where("vaults.purging_bytes", "is", null)
    .where("vaults.trashed_at", filter.trashed === true ? "is not" : "is", null);
  if (filter.vaultIds !== null) query = query.where("vaults.id", "in", [...filter.vaultIds]);
  if (filter.type !== undefined) query = query.where("vaults.type", "=", filter.type);
  if (filter.ids != null) query = query.where("vaults.id", ">=", filter.ids[0]).where("vaults.id", "<", filter.ids[1]);
  return queries.all(pageOf(query, { after, limit }));
}

/** The vaults of other accounts that record the address as a member; one more row than the page holds. */
export function listVaultsOfMember(
  queries: Queries,
  member: { readonly chainAddress: string; readonly accountId: string; readonly ids?: IdRange | null },
  page: Pick<PageRequest, "after" | "limit">,
): Promise<OwnedVault[]> {
  let query = queries.build
    .selectFrom("vault_members")
    .innerJoin("vaults", "vaults.id", "vault_members.vault_id")
    .innerJoin("accounts", "accounts.id", "vaults.account_id")
    .selectAll("vaults")
    .select("accounts.default_vault_id")
    .where("vault_members.chain_address", "=", member.chainAddress)
    .where("vault_members.removed_at", "is", null)
    .where("vault_members.ended_at", "is", null)
    .where("vaults.account_id", "<>", member.accountId)
    .where("vaults.trashed_at", "is", null);
  if (member.ids != null) query = query.where("vaults.id", ">=", member.ids[0]).where("vaults.id", "<", member.ids[1]);
  return queries.all(pageOf(query, page));
}

type Joined = Pick<Tables, "vaults">;

function pageOf<All extends Joined, From extends keyof All, Row>(
  query: SelectQueryBuilder<All, From, Row>,
  { after, limit }: Pick<PageRequest, "after" | "limit">,
): SelectQueryBuilder<All, From, Row> {
  const from =
    after === null
      ? query
      : query.where(sql<boolean>`(vaults.created_at, vaults.id) < (${after.createdAt}, ${after.id})`);
  return from
    .orderBy(sql`vaults.created_at`, "desc")
    .orderBy(sql`vaults.id`, "desc")
    .limit(limit + 1);
}

export async function insertVault(transaction: Queries, row: VaultRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("vaults").values(row));
}

const asRead =
  ({ id, account_id, name, trashed_at }: Pick<VaultRow, "id" | "account_id" | "name" | "trashed_at">) =>
  (row: ExpressionBuilder<Tables, "vaults">) =>
    row.and([
      row.and({ id, account_id, name }),
      row("purging_bytes", "is", null),
      row("trashed_at", trashed_at === null ? "is" : "=", trashed_at),
    ]);

/**
 * Another name, to the trash or back: written to the vault as it was read, else false. Rejects with ConstraintError
 * when another vault outside the trash has the name.
 */
export async function updateVault(
  transaction: Queries,
  known: VaultRow,
  changes: Partial<Pick<VaultRow, "name" | "trashed_at" | "updated_at" | "keep_versions_days" | "pending_retention">>,
): Promise<boolean> {
  return (await transaction.run(transaction.build.updateTable("vaults").set(changes).where(asRead(known)))) === 1;
}

export async function readVaultContents(queries: Queries, vaultId: string): Promise<VaultContents> {
  const files = await queries.first(
    queries.build
      .selectFrom("files")
      .select((eb) => [
        eb.fn.countAll<Count>().as("all"),
        eb.fn.count<Count>("trashed_at").as("trashed"),
        eb.fn.sum<Count | null>("size").as("bytes"),
      ])
      .where("vault_id", "=", vaultId),
  );
  const versions = await queries.first(
    queries.build
      .selectFrom("file_versions")
      .select((eb) => eb.fn.sum<Count | null>("charged").as("bytes"))
      .where("vault_id", "=", vaultId),
  );
  // Those of files that are gone count no more.
  const ended = await listEndedItemsIn(queries, vaultId);
  const versionBytes = Number(versions?.bytes ?? 0) - sumOf(ended);
  const folders = await queries.first(
    queries.build
      .selectFrom("folders")
      .select((eb) => [eb.fn.countAll<Count>().as("all"), eb.fn.count<Count>("trashed_at").as("trashed")])
      .where("vault_id", "=", vaultId),
  );
  return {
    files: Number(files?.all ?? 0) - Number(files?.trashed ?? 0),
    folders: Number(folders?.all ?? 0) - Number(folders?.trashed ?? 0),
    trashedFiles: Number(files?.trashed ?? 0),
    trashedFolders: Number(folders?.trashed ?? 0),
    bytes: Number(files?.bytes ?? 0) + versionBytes,
    versionBytes,
  };
}

/** How long its unfinished uploads are to be. */
export async function sumUploads(queries: Queries, vaultId: string): Promise<number> {
  const query = queries.build
    .selectFrom("uploads")
    .select((row) => row.fn.sum<Count | null>("length").as("bytes"))
    .where("vault_id", "=", vaultId)
    .where("finished_file_id", "is", null);
  return Number((await queries.first(query))?.bytes ?? 0);
}

/** Bytes in the vault that keys with budgets stored, by budget. */
export async function listStoredOf(
  queries: Queries,
  vaultId: string,
): Promise<readonly { readonly budgetId: string | null; readonly bytes: number }[]> {
  const gone = await listEndedItemsIn(queries, vaultId);
  const all: { budgetId: string | null; bytes: number }[] = [];
  for (const { item_id: id } of gone)
    for (const { budgetId, bytes } of await countVersionsOf(queries, id))
      if (budgetId !== null) all.push({ budgetId, bytes: -bytes });
  const inTables = [
    ["files", "size"],
    ["file_versions", "charged"],
  ] as const;
  for (const [table, size] of inTables) {
    const query = queries.build
      .selectFrom(table)
      .select(["budget_id as budgetId", sql<Count>`sum(${sql.ref(size)})`.as("bytes")])
      .where("vault_id", "=", vaultId)
      .where("budget_id", "is not", null)
      .groupBy("budget_id");
    for (const { budgetId, bytes } of await queries.all(query)) all.push({ budgetId, bytes: Number(bytes) });
  }
  const sums = Map.groupBy(all, ({ budgetId }) => budgetId);
  return [...sums].map(([budgetId, parts]) => ({ budgetId, bytes: sumOf(parts) }));
}

function sumOf(rows: readonly { readonly bytes: number }[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Takes the vault out of everybody's sight, for good: its name and its chain object are free from now on. False: it is not as it was read.
 * `bytes`: how many of it are to be queued for their deletion.
 */
export async function markPurged(
  transaction: Queries,
  vault: VaultRow,
  { bytes, now }: { readonly bytes: number; readonly now: number },
): Promise<boolean> {
  const changes = { purging_bytes: bytes, trashed_at: vault.trashed_at ?? now, chain_object_id: null };
  return (await transaction.run(transaction.build.updateTable("vaults").set(changes).where(asRead(vault)))) === 1;
}
