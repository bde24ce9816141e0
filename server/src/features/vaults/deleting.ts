/** To the trash, back from it, and away for good (decision 0030). */
import type { Deps } from "../../deps.ts";
import type { Principal, RequestContext } from "../../handler.ts";
import type { VaultRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actAs, actOnFullDisk } from "../account/act.ts";
import { type ActingDeps, recordChange, vaultTarget } from "../acting.ts";
import { releaseStored } from "../budgets/spending.ts";
import type { Actor } from "../changes/store.ts";
import { type DeletionGrant, type ProofDeps, withOwnerProof } from "../deletion/grants.ts";
import { readVaultOrTrashed, requireOwner } from "../reach/access.ts";
import { requireWritten } from "../items/changing.ts";
import { listEndedItemsIn, removeEndedItemsIn } from "../items/history-removal-store.ts";
import { nameOrConflict, refuseTakenName } from "./naming.ts";
import { refuseInVault } from "../tree-acts/acts.ts";
import { removeTreeActsIn } from "../tree-acts/store.ts";
import { contentProblem } from "./rules.ts";
import { purgeSome } from "./purging.ts";
import { listStoredOf, markPurged, readVaultContents, sumUploads, updateVault } from "./store.ts";
import type { OwnedVault } from "../reach/store.ts";

export interface VaultDeletion {
  readonly vaultId: string;
  readonly force: boolean;
  /** For good, from the trash or at once. */
  readonly permanent: boolean;
  readonly proof: string | undefined;
}

/**
 * Answers the vault as it was left. Items in the trash stay as they are. So a repeat gets the first answer, and needs
 * no second proof. Everything on the chain stays there: only its owner could make another vault of it.
 */
export function deleteVault(
  deps: ActingDeps & ProofDeps & Pick<Deps, "settings">,
  context: RequestContext<Principal>,
  { vaultId, force, permanent, proof }: VaultDeletion,
): Promise<OwnedVault> {
  const { principal } = context;
  const act = permanent ? "purge-vault" : "delete-vault";
  return withOwnerProof(deps, context, { act, proof }, (grantFor) =>
    actOnFullDisk(deps, principal, async (act) => {
      const vault = await readVaultOrTrashed(act, principal, vaultId);
      requireOwner(vault);
      if (vault.trashed_at === null) await requireDeletable(act, vault, force);
      else if (!permanent) return vault;
      const grant = grantFor(vault);
      if (!permanent) return trashVault(act, deps, principal, vault, grant);
      await purgeVault(act, deps, principal, vault, grant);
      return vault;
    }),
  );
}

/** @throws ServiceError `default_vault`, `vault_not_empty`; `tree_busy`: it cannot be said yet what is in it. */
async function requireDeletable(act: AccountAct, vault: OwnedVault, force: boolean): Promise<void> {
  if (vault.default_vault_id === vault.id) throw new ServiceError("default_vault");
  if (force) return;
  await refuseInVault(act, vault.id);
  const problem = contentProblem(await readVaultContents(act, vault.id));
  if (problem !== null) throw new ServiceError("vault_not_empty", problem);
}

/** All that lies in it goes along and stays as it is, uploads that have begun too. */
export async function trashVault<Row extends VaultRow>(
  act: AccountAct,
  deps: ActingDeps,
  actor: Actor | null,
  vault: Row,
  grant: DeletionGrant,
): Promise<Row> {
  grant.requireFor({ vaultId: vault.id, isShared: vault.type === "shared" });
  const now = deps.clock.now();
  const changes = { trashed_at: now, updated_at: now };
  requireWritten(await updateVault(act, vault, changes));
  await recordChange(act, actor, "vault.trashed", vaultTarget(vault));
  return { ...vault, ...changes };
}

export async function restoreVault(
  deps: ActingDeps,
  principal: Principal,
  { vaultId, name }: { readonly vaultId: string; readonly name: string | undefined },
): Promise<OwnedVault> {
  return actAs(deps, principal, async (act) => {
    const vault = await readVaultOrTrashed(act, principal, vaultId);
    requireOwner(vault);
    if (vault.trashed_at === null) throw new ServiceError("not_trashed");
    const changes = { name: name ?? vault.name, trashed_at: null, updated_at: deps.clock.now() };
    const restored = { ...vault, ...changes };
    await refuseTakenName(act, restored);
    requireWritten(await nameOrConflict(updateVault(act, vault, changes)));
    await recordChange(act, principal, "vault.restored", vaultTarget(restored));
    return restored;
  });
}

/** Deletes the vault for good, with all that lies in it: nobody sees it from now on, and what is left of a large one goes by and by. */
export async function purgeVault(
  act: AccountAct,
  deps: Pick<Deps, "clock" | "settings">,
  actor: Actor | null,
  vault: VaultRow,
  grant: DeletionGrant,
): Promise<void> {
  grant.requireFor({ vaultId: vault.id, isShared: vault.type === "shared" });
  const { files, trashedFiles, bytes, versionBytes } = await readVaultContents(act, vault.id);
  for (const { budgetId, bytes: stored } of await listStoredOf(act, vault.id))
    await releaseStored(act, budgetId, stored);
  act.requireAccount(vault.account_id);
  const uploading = await sumUploads(act, vault.id);
  const gone = (await listEndedItemsIn(act, vault.id)).reduce((sum, item) => sum + item.bytes, 0);
  requireWritten(await markPurged(act, vault, { bytes: bytes + uploading + gone, now: deps.clock.now() }));
  await removeTreeActsIn(act, vault.id);
  await removeEndedItemsIn(act, vault.id);
  await purgeSome(act, deps, vault);
  act.free({ bytes, files: files + trashedFiles });
  act.countVersions(-versionBytes);
  await recordChange(act, actor, "vault.deleted", vaultTarget(vault));
}
