/** New vaults: public ones, and shared ones whose allowlist is on the chain (decisions §5). */
import type { api, HandlerInput } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import type { ChainVault } from "../../ports/chain.ts";
import { isTaken } from "../../ports/database.ts";
import type { VaultRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import type { AccountAct } from "../account/act.ts";
import { limitsOf } from "../account/rules.ts";
import { recordChange, vaultTarget } from "../acting.ts";
import { askChain } from "../reach/chain-vaults.ts";
import { findAccountAddress } from "../reach/store.ts";
import { nameOrConflict, refuseTakenName } from "./naming.ts";
import { countVaults, findVaultIdByChainObject, insertVault } from "./store.ts";
import type { OwnedVault } from "../reach/store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "chain">;
type WantedVault = HandlerInput<typeof api.vaults.create, never>["body"];

/**
 * The object of a new shared vault, read now. It must be a vault of the service's package that belongs to the
 * account's linked address. null for a public vault. Never inside a transaction.
 * @throws ServiceError `shared_vaults_unavailable`, `validation_failed`, `address_required`, `chain_object_invalid`,
 * `chain_unavailable`, `clock_skew`.
 */
export async function readWantedObject(
  deps: Needs,
  principal: Principal,
  { type, chainObjectId }: WantedVault,
): Promise<ChainVault | null> {
  if (type === "public" && chainObjectId === undefined) return null;
  if (deps.chain === null) throw new ServiceError("shared_vaults_unavailable");
  if (type !== "shared" || chainObjectId === undefined) {
    throw new ServiceError("validation_failed", "body.chainObjectId: a shared vault has one and a public vault none");
  }
  const address = await findAccountAddress(deps.database, principal.accountId);
  if (address === null) throw new ServiceError("address_required");
  const found = await askChain(deps, chainObjectId, { maxAge: 0 });
  if (found === null) throw new ServiceError("chain_object_invalid", "The chain has no such vault of this service");
  requireOwnedBy(found, address);
  return found;
}

/** @throws ServiceError `limit_reached`, `name_exists`, `chain_object_taken`, `chain_object_invalid`. */
export async function createVault(
  act: AccountAct,
  deps: Needs,
  principal: Principal,
  { name, object }: { readonly name: string; readonly object: ChainVault | null },
): Promise<OwnedVault> {
  const { accountId } = principal;
  const { plan, default_vault_id, chain_address } = act.account;
  if (object !== null) requireOwnedBy(object, chain_address);
  const maximum = limitsOf(plan, deps.settings).vaults;
  if ((await countVaults(act, accountId)) >= maximum) {
    throw new ServiceError("limit_reached", `An account holds at most ${maximum} vaults, those in the trash included`);
  }
  const now = deps.clock.now();
  const row = {
    id: deps.random.uuid(),
    account_id: accountId,
    name,
    ...chainColumns(object),
    created_at: now,
    updated_at: now,
    trashed_at: null,
    keep_versions_days: null,
    purging_bytes: null,
    pending_retention: null,
  };
  await refuseTakenName(act, row);
  await (object === null ? nameOrConflict(insertVault(act, row)) : insertShared(act, row, object));
  await recordChange(act, principal, "vault.created", vaultTarget(row));
  return { ...row, default_vault_id };
}

function requireOwnedBy({ owner }: ChainVault, address: string | null): void {
  if (owner.address === address) return;
  throw new ServiceError("chain_object_invalid", "The chain object belongs to another address than the account's");
}

/** Another account may have owned the object before, and still have its vault. */
async function insertShared(act: AccountAct, row: VaultRow, { objectId }: ChainVault): Promise<void> {
  const other = await findVaultIdByChainObject(act, { chainObjectId: objectId });
  if (other !== null) throw new ServiceError("chain_object_taken");
  try {
    await insertVault(act, row);
  } catch (cause) {
    throw isTaken(cause, "vaults_chain_object") ? new ServiceError("chain_object_taken", undefined, { cause }) : cause;
  }
}

function chainColumns(
  object: ChainVault | null,
): Pick<VaultRow, "type" | "chain_object_id" | "owner_address" | "chain_generation" | "plain_names"> {
  if (object === null) {
    return { type: "public", chain_object_id: null, owner_address: null, chain_generation: null, plain_names: null };
  }
  return {
    type: "shared",
    chain_object_id: object.objectId,
    owner_address: object.owner.address,
    chain_generation: object.generation,
    plain_names: object.plainNames ? 1 : 0,
  };
}
