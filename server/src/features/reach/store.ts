/** The SQL of who sees what: every look-up from outside is by id and account, or by id and recorded membership (shared vaults). */
import { prepared, type Queries, type ReadHints } from "../../ports/database.ts";
import type { Tables, VaultRow } from "../../ports/tables.ts";

const ofMember = prepared((build, value: { id: string; chainAddress: string }) =>
  build
    .selectFrom("vaults")
    .innerJoin("accounts", "accounts.id", "vaults.account_id")
    .innerJoin("vault_members", "vault_members.vault_id", "vaults.id")
    .selectAll("vaults")
    .select("accounts.default_vault_id")
    .where("vaults.id", "=", value.id)
    .where("vault_members.chain_address", "=", value.chainAddress)
    .where("vault_members.removed_at", "is", null),
);

/** A vault, of whatever account, that records the address as a member. */
export function findVaultOfMember(
  queries: Queries,
  value: { id: string; chainAddress: string },
): Promise<OwnedVault | null> {
  return queries.first(ofMember(queries, value));
}

const addressOf = prepared((build, value: { accountId: string }) =>
  build.selectFrom("accounts").select("chain_address").where("id", "=", value.accountId),
);

export async function findAccountAddress(queries: Queries, accountId: string): Promise<string | null> {
  return (await queries.first(addressOf(queries, { accountId })))?.chain_address ?? null;
}

/** What was last read of the object; never an older generation than what stands. */
export const noteChainFacts = prepared((build, value: { id: string; generation: number; ownerAddress: string }) =>
  build
    .updateTable("vaults")
    .set({ chain_generation: value.generation, owner_address: value.ownerAddress })
    .where("id", "=", value.id)
    .where("chain_generation", "<=", value.generation),
);

/** A vault's row with the account's default vault beside it. */
export interface OwnedVault extends VaultRow {
  default_vault_id: string;
}

const ofAccount = prepared((build, value: { id: string; accountId: string }) =>
  build
    .selectFrom("vaults")
    .innerJoin("accounts", "accounts.id", "vaults.account_id")
    .selectAll("vaults")
    .select("accounts.default_vault_id")
    .where("vaults.id", "=", value.id)
    .where("vaults.account_id", "=", value.accountId),
);

/** In the trash or not. */
export function findVault(queries: Queries, value: { id: string; accountId: string }): Promise<OwnedVault | null> {
  return queries.first(ofAccount(queries, value));
}

const liveOf = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("vaults")
    .select(["id", "name", "type"])
    .where("account_id", "=", value.accountId)
    .where("trashed_at", "is", null),
);

export function listLiveVaults(queries: Queries, accountId: string): Promise<Pick<VaultRow, "id" | "name" | "type">[]> {
  return queries.all(liveOf(queries, { accountId }));
}

const trashedOf = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("vaults")
    .select("id")
    .where("account_id", "=", value.accountId)
    .where("trashed_at", "is not", null)
    .limit(1),
);

export async function hasTrashedVault(queries: Queries, accountId: string): Promise<boolean> {
  return (await queries.first(trashedOf(queries, { accountId }))) !== null;
}

/** The tables of what lies in vaults. */
export type ItemTable = "files" | "folders";
type RowOf<Table extends ItemTable> = Tables[Table];

function lookUpsIn<Table extends ItemTable>(name: Table, hints: ReadHints = {}) {
  // Both tables have all columns that are asked for; the row is the named one's.
  const table = name as "files";
  return {
    ofAccount: prepared(
      (build, value: { id: string; accountId: string }) =>
        build
          .selectFrom(table)
          .selectAll()
          .where("id", "=", value.id)
          .where("account_id", "=", value.accountId)
          .where((row) => {
            const vault = row.selectFrom("vaults").select("vaults.id").whereRef("vaults.id", "=", `${table}.vault_id`);
            return row.not(row.exists(vault.where("vaults.trashed_at", "is not", null)));
          })
          .$castTo<RowOf<Table>>(),
      hints,
    ),
    ofMember: prepared((build, value: { id: string; chainAddress: string }) =>
      build
        .selectFrom(table)
        .innerJoin("vault_members", "vault_members.vault_id", `${table}.vault_id`)
        .selectAll(table)
        .where(`${table}.id`, "=", value.id)
        .where("vault_members.chain_address", "=", value.chainAddress)
        .where("vault_members.removed_at", "is", null)
        .$castTo<RowOf<Table>>(),
    ),
    taken: prepared((build, value: { id: string }) => build.selectFrom(table).select("id").where("id", "=", value.id)),
  };
}

const LOOK_UPS = { files: lookUpsIn("files", { remembered: true }), folders: lookUpsIn("folders") } as const;

/** Not in a vault that is in the trash. */
export function findItem<Table extends ItemTable>(
  queries: Queries,
  table: Table,
  value: { id: string; accountId: string },
): Promise<RowOf<Table> | null> {
  return queries.first(LOOK_UPS[table].ofAccount(queries, value)) as Promise<RowOf<Table> | null>;
}

/** An item, of whatever account, in a shared vault that records the address as a member. */
export function findItemOfMember<Table extends ItemTable>(
  queries: Queries,
  table: Table,
  value: { id: string; chainAddress: string },
): Promise<RowOf<Table> | null> {
  return queries.first(LOOK_UPS[table].ofMember(queries, value)) as Promise<RowOf<Table> | null>;
}

/** Whether an item of whatever account has the id. */
export async function isIdTaken(queries: Queries, table: ItemTable, id: string): Promise<boolean> {
  return (await queries.first(LOOK_UPS[table].taken(queries, { id }))) !== null;
}
