/** Vaults over HTTP (decisions §5). Only public ones for now: `shared` is refused by name. */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers, Principal } from "../../http/handlers.ts";
import { ConstraintError, type Session } from "../../ports/database.ts";
import type { VaultRow } from "../../ports/tables.ts";
import { limitsOf } from "../account/rules.ts";
import { changeUsage } from "../account/store.ts";
import { noteChange, vaultTarget, notFound, reaches } from "../acting.ts";
import { BLOB_GRACE_MS, readQuota } from "../files/store.ts";
import { parsePage, toPage } from "../paging.ts";
import { contentProblem, toVault } from "./rules.ts";
import {
  countVaults,
  deleteVaultWithContents,
  findVault,
  findVaultIdByName,
  insertVault,
  listVaults,
  readVaultContents,
  renameVault,
  type OwnedVault,
} from "./store.ts";

type VaultDeps = Pick<Deps, "database" | "clock" | "random" | "settings">;

export const vaultsHandlers = (deps: VaultDeps): GroupHandlers<typeof api.vaults> => ({
  create: async ({ body }, context) => {
    if (body.type === "shared" || body.chainObjectId !== undefined) throw new ServiceError("shared_vaults_unavailable");
    return deps.database.transaction(async (transaction) => {
      const vault = toVault(await createVault(transaction, deps, context.principal, body.name));
      return context.record(transaction, { vault });
    });
  },
  list: async ({ query }, { principal }) => {
    const page = parsePage("vaults", query);
    const filter = { accountId: principal.accountId, vaultIds: principal.vaultIds, type: query.type };
    const { rows, nextCursor } = toPage(await listVaults(deps.database, filter, page), page);
    return { vaults: rows.map(toVault), nextCursor };
  },
  get: async ({ params }, { principal }) => ({
    vault: toVault(await readVault(deps.database, principal, params.vaultId)),
  }),
  update: async ({ params, body }, { principal }) => {
    const vault = await deps.database.transaction(async (transaction) => {
      const row = await readVault(transaction, principal, params.vaultId);
      if (body.name === undefined || body.name === row.name) return row;
      const renamed = { ...row, name: body.name, updated_at: deps.clock.now() };
      await refuseTakenName(transaction, renamed);
      await nameOrConflict(renameVault(transaction, { id: row.id, name: renamed.name, at: renamed.updated_at }));
      await noteChange(transaction, deps, principal, "vault.updated", vaultTarget(row));
      return renamed;
    });
    return { vault: toVault(vault) };
  },
  delete: async ({ params, query }, { principal }) => {
    await deps.database.transaction(
      (transaction) => deleteVault(transaction, deps, principal, params.vaultId, query.force ?? false),
      { freesSpace: true },
    );
  },
});

/** A vault the caller may see, else 404. */
export async function readVault(session: Session, principal: Principal, id: string): Promise<OwnedVault> {
  const row = reaches(principal, id) ? await findVault(session, { id, accountId: principal.accountId }) : null;
  if (row === null) throw notFound("Vault");
  return row;
}

async function createVault(
  transaction: Session,
  deps: VaultDeps,
  principal: Principal,
  name: string,
): Promise<OwnedVault> {
  const { accountId } = principal;
  const now = deps.clock.now();
  const { plan, default_vault_id } = await readQuota(transaction, accountId);
  const maximum = limitsOf(plan, deps.settings).vaults;
  if ((await countVaults(transaction, accountId)) >= maximum) {
    throw new ServiceError("limit_reached", `An account holds at most ${maximum} vaults`);
  }
  const row = {
    ...{ id: deps.random.uuid(), account_id: accountId, name, type: "public", chain_object_id: null },
    ...{ owner_address: null, chain_generation: null, plain_names: null },
    ...{ created_at: now, updated_at: now },
  };
  await refuseTakenName(transaction, row);
  await nameOrConflict(insertVault(transaction, row));
  await noteChange(transaction, deps, principal, "vault.created", vaultTarget(row));
  return { ...row, default_vault_id };
}

async function deleteVault(
  transaction: Session,
  deps: VaultDeps,
  principal: Principal,
  id: string,
  force: boolean,
): Promise<void> {
  const vault = await readVault(transaction, principal, id);
  if (vault.default_vault_id === vault.id) throw new ServiceError("default_vault");
  const contents = await readVaultContents(transaction, id);
  const problem = contentProblem(contents);
  if (problem !== null && !force) throw new ServiceError("vault_not_empty", problem);
  await deleteVaultWithContents(transaction, { id, notBefore: deps.clock.now() + BLOB_GRACE_MS });
  const files = contents.files + contents.trashedFiles;
  await changeUsage(transaction, {
    accountId: principal.accountId,
    bytes: -contents.bytes,
    files: -files,
    maximum: Number.MAX_SAFE_INTEGER,
  });
  await noteChange(transaction, deps, principal, "vault.deleted", vaultTarget(vault));
}

async function refuseTakenName(transaction: Session, row: VaultRow): Promise<void> {
  const other = await findVaultIdByName(transaction, { name: row.name, accountId: row.account_id });
  if (other !== null && other !== row.id) throw nameTaken();
}

/** Where writers run side by side, the unique index has the last word. */
async function nameOrConflict(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (cause) {
    throw cause instanceof ConstraintError ? nameTaken(cause) : cause;
  }
}

function nameTaken(cause?: unknown): ServiceError {
  return new ServiceError("name_exists", "A vault of this name exists", { cause });
}
