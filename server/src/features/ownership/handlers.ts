/**
 * Vaults that were handed on (decision 0021). The chain decides who owns one. The new owner's account takes over what
 * the service holds of it.
 */
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers, Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { isUnread } from "../../unread-chain.ts";
import { type ActOf, actOnAll } from "../account/act.ts";
import { limitsOf } from "../account/rules.ts";
import { notFound, recordChange, vaultTarget } from "../acting.ts";
import { BLOB_GRACE_MS } from "../files/store.ts";
import { endMember } from "../members/store.ts";
import { readVaultFor, requireShared } from "../reach/access.ts";
import { readChainVault } from "../reach/chain-vaults.ts";
import { FRESHNESS } from "../reach/freshness.ts";
import { findAccountAddress } from "../reach/store.ts";
import { refuseInVault } from "../tree-acts/acts.ts";
import { nameOrConflict, refuseTakenName } from "../vaults/naming.ts";
import { toVault } from "../vaults/rules.ts";
import { countVaults, readVaultContents } from "../vaults/store.ts";
import type { OwnedVault } from "../reach/store.ts";
import { endUploads, findVaultOfAny, moveVault } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "chain">;

export const ownershipHandlers = (deps: Needs): GroupHandlers<typeof api.ownership> => ({
  claim: async ({ params, body }, { principal }) => {
    const owner = await readOwner(deps, principal, params.vaultId);
    const vault = await actOnAll(deps, [principal.accountId], async (actOf) => {
      const act = actOf(principal.accountId);
      await act.requireLive(principal);
      const { account } = act;
      if (account.chain_address === null) throw new ServiceError("address_required");
      const now = await findClaimed(act, params.vaultId);
      // The row says who owned it in the latest read: the caller may have handed it on after this one.
      if (owner !== account.chain_address || owner !== now.owner_address) {
        throw new ServiceError("chain_object_invalid", "The vault belongs to another address than the account's");
      }
      return now.account_id === principal.accountId
        ? now
        : takeOver(actOf, deps, principal, {
            vault: now,
            name: body.name ?? now.name,
            chainAddress: owner,
          });
    });
    return { vault: toVault(vault, "owner") };
  },
});

/**
 * The address that owns the vault on the chain now. An owner that the account before has not recorded finds the vault
 * all the same, by owning it. Everybody else gets `not_found` for a vault out of sight, and so does everybody while
 * the chain does not answer.
 */
async function readOwner(deps: Needs, principal: Principal, vaultId: string): Promise<string> {
  const notSeen = await readVaultFor(deps.database, principal, vaultId).then(
    (seen) => {
      requireShared(seen);
      return null;
    },
    (reason: unknown) => {
      if (reason instanceof ServiceError && reason.code === "not_found") return reason;
      throw reason;
    },
  );
  const vault = await findClaimed(deps.database, vaultId);
  if (notSeen === null) return (await readChainVault(deps, vault, { maxAge: 0 })).owner.address;
  const address = await findAccountAddress(deps.database, principal.accountId);
  if (vault.type !== "shared" || address === null) throw notSeen;
  const { owner } = await readChainVault(deps, vault, { maxAge: FRESHNESS.refusing }).catch((cause: unknown) => {
    throw isUnread(cause) ? notSeen : cause;
  });
  if (owner.address !== address) throw notSeen;
  return owner.address;
}

/** A vault of any account. Throws `not_found`. */
async function findClaimed(queries: Queries, id: string): Promise<OwnedVault> {
  const vault = await findVaultOfAny(queries, id);
  if (vault === null) throw notFound("Vault");
  return vault;
}

interface Transfer {
  readonly vault: OwnedVault;
  readonly name: string;
  /** The new owner's; if it is recorded as a member, that ends. */
  readonly chainAddress: string;
}

/**
 * Everything in the vault counts for the new account from now on. The account before learns of it as of a deletion: for it the vault is
 * gone. Uploads that have begun there end: their statements are of a generation that the transfer closed.
 */
async function takeOver(
  actOf: ActOf,
  deps: Needs,
  principal: Principal,
  { vault: before, name, chainAddress }: Transfer,
): Promise<OwnedVault> {
  const { accountId } = principal;
  const [act, actBefore] = [actOf(accountId), actOf(before.account_id)];
  await refuseInVault(act, before.id);
  const { plan, default_vault_id } = act.account;
  const maximum = limitsOf(plan, deps.settings).vaults;
  if ((await countVaults(act, accountId)) >= maximum) {
    throw new ServiceError("limit_reached", `An account holds at most ${maximum} vaults, those in the trash included`);
  }
  const now = deps.clock.now();
  const after: OwnedVault = { ...before, account_id: accountId, name, updated_at: now, default_vault_id };
  await refuseTakenName(act, after);
  const contents = await readVaultContents(act, before.id);
  const usage = { bytes: contents.bytes, files: contents.files + contents.trashedFiles };
  act.charge(deps, usage);
  act.countVersions(contents.versionBytes);
  actBefore.free(usage);
  actBefore.countVersions(-contents.versionBytes);
  await recordChange(actBefore, principal, "vault.deleted", vaultTarget(before));
  await endUploads(act, { vaultId: before.id, notBefore: now + BLOB_GRACE_MS });
  await act.run(endMember(act, { vaultId: before.id, chainAddress, now }));
  await nameOrConflict(moveVault(act, { id: before.id, accountId, name, now }));
  await recordChange(act, principal, "vault.created", vaultTarget(after));
  return after;
}
