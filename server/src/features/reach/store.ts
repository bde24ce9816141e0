/** The SQL of access: every look-up from outside is by id and account, or by id and recorded membership (shared vaults). */
import { type RawBuilder, sql } from "kysely";
import { consistently, prepared, type Queries } from "../../ports/database.ts";
import type { VaultRow } from "../../ports/tables.ts";
import { TreeActs } from "../tree-acts/acts.ts";
import { listTreeActsIn } from "../tree-acts/store.ts";
import { eachKind, folderIdOf, type ItemKind, type ItemRows, ITEMS } from "./kinds.ts";

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

const addressOf = prepared(
  (build, value: { accountId: string }) =>
    build.selectFrom("accounts").select("chain_address").where("id", "=", value.accountId),
  { remembered: true },
);

export async function findAccountAddress(queries: Queries, accountId: string): Promise<string | null> {
  return (await queries.first(addressOf(queries, { accountId })))?.chain_address ?? null;
}

/** The last read of the object; never an older generation than the present one. */
export const recordChainFacts = prepared((build, value: { id: string; generation: number; ownerAddress: string }) =>
  build
    .updateTable("vaults")
    .set({ chain_generation: value.generation, owner_address: value.ownerAddress })
    .where("id", "=", value.id)
    .where("chain_generation", "<=", value.generation),
);

const endsOf = prepared((build, value: { vaultId: string }) =>
  build
    .selectFrom("vault_members")
    .select(["chain_address", "ends_at"])
    .where("vault_id", "=", value.vaultId)
    .where("removed_at", "is", null),
);

/** The ends of recorded memberships, as they were last seen. */
export function listEnds(
  queries: Queries,
  vaultId: string,
): Promise<{ chain_address: string; ends_at: number | null }[]> {
  return queries.all(endsOf(queries, { vaultId }));
}

/**
 * Another end of a recorded membership that the chain names. A reported end stays: a member that was added again gets
 * a new record.
 */
export const recordEnd = prepared((build, value: { vaultId: string; chainAddress: string; endsAt: number | null }) =>
  build
    .updateTable("vault_members")
    .set({ ends_at: value.endsAt })
    .where("vault_id", "=", value.vaultId)
    .where("chain_address", "=", value.chainAddress)
    .where("removed_at", "is", null)
    .where("ended_at", "is", null)
    .where((row) => row("ends_at", "is distinct from", value.endsAt)),
);

/** A vault's row with the account's default vault beside it. */
export interface OwnedVault extends VaultRow {
  default_vault_id: string;
}

/** Every download from a shared vault asks for its row. */
const ofAccount = prepared(
  (build, value: { id: string; accountId: string }) =>
    build
      .selectFrom("vaults")
      .innerJoin("accounts", "accounts.id", "vaults.account_id")
      .selectAll("vaults")
      .select("accounts.default_vault_id")
      .where("vaults.id", "=", value.id)
      .where("vaults.account_id", "=", value.accountId)
      .where("vaults.purging_bytes", "is", null),
  { remembered: true },
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

/** For queries of either kind. Both tables have all columns that are asked for, and the place is asked for by its name. */
export function tableOf(kind: ItemKind): "files" {
  return ITEMS[kind].table as "files";
}

/** The expression of the indexes `{files,folders}_live_name`, `files_folder_*` and `folders_parent_*`: the top of a vault is a value there. */
export function placeOrNone(kind: ItemKind): RawBuilder<string> {
  return sql<string>`coalesce(${sql.ref(ITEMS[kind].place)}, '')`;
}

const lookUps = eachKind((kind) => {
  const table = tableOf(kind);
  const underAct = sql<
    number | null
  >`(select 1 from tree_acts where tree_acts.vault_id = ${sql.ref(`${ITEMS[kind].table}.vault_id`)} limit 1)`;
  const ofAccount = (build: Queries["build"], value: { id: string; accountId: string }) =>
    build
      .selectFrom(table)
      .selectAll()
      .select(underAct.as("under_act"))
      .where("id", "=", value.id)
      .where("account_id", "=", value.accountId)
      .where((row) => {
        const vault = row.selectFrom("vaults").select("vaults.id").whereRef("vaults.id", "=", `${table}.vault_id`);
        return row.not(row.exists(vault.where("vaults.trashed_at", "is not", null)));
      });
  return {
    ofAccount: prepared(ofAccount, { remembered: kind === "file" }),
    ofMember: prepared((build, value: { id: string; chainAddress: string }) =>
      build
        .selectFrom(table)
        .innerJoin("vault_members", "vault_members.vault_id", `${table}.vault_id`)
        .selectAll(table)
        .select(underAct.as("under_act"))
        .where(`${table}.id`, "=", value.id)
        .where("vault_members.chain_address", "=", value.chainAddress)
        .where("vault_members.removed_at", "is", null),
    ),
  };
});

/** Not in a vault that is in the trash. */
export function findItem<Kind extends ItemKind>(
  queries: Queries,
  kind: Kind,
  value: { id: string; accountId: string },
): Promise<ItemRows[Kind] | null> {
  return read(queries, (on) => on.first(lookUps[kind].ofAccount(on, value)));
}

/** An item, of whatever account, in a shared vault that records the address as a member. */
export function findItemOfMember<Kind extends ItemKind>(
  queries: Queries,
  kind: Kind,
  value: { id: string; chainAddress: string },
): Promise<ItemRows[Kind] | null> {
  return read(queries, (on) => on.first(lookUps[kind].ofMember(on, value)));
}

/** With the state that an act on a tree above it gives it: few vaults have one under way. */
async function read<Row extends ItemRows[ItemKind]>(
  queries: Queries,
  look: (on: Queries) => Promise<object | null>,
): Promise<Row | null> {
  const find = look as (on: Queries) => Promise<(Row & { readonly under_act: number | null }) | null>;
  const found = await find(queries);
  if (found === null || found.under_act === null) return found;
  return consistently(queries, async (on) => {
    const row = await find(on);
    return row && new TreeActs(await listTreeActsIn(on, row.vault_id)).asWritten(on, row, folderIdOf(row));
  });
}

const kindOf = prepared((build, value: { id: string }) =>
  build
    .selectFrom("files")
    .select(sql.lit<ItemKind>("file").as("kind"))
    .where("id", "=", value.id)
    .unionAll(build.selectFrom("folders").select(sql.lit<ItemKind>("folder").as("kind")).where("id", "=", value.id)),
);

/** What has the id, in whatever account; null: nothing. */
export async function findKindOf(queries: Queries, id: string): Promise<ItemKind | null> {
  return (await queries.first(kindOf(queries, { id })))?.kind ?? null;
}
