/** Deleting one file for good. */
import type { Deps } from "../../deps.ts";
import { type CreationContext, type Principal, type Recorded, Reply } from "../../handler.ts";
import type { FileRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actOnFullDisk } from "../account/act.ts";
import { type ActingDeps, fileTarget, recordChange } from "../acting.ts";
import { releaseStored } from "../budgets/spending.ts";
import type { Actor } from "../changes/store.ts";
import { type DeletionGrant, type ProofDeps, withOwnerProof } from "../deletion/grants.ts";
import { type Named, requireWritten } from "../items/changing.ts";
import { requireUnchanged } from "../items/conditions.ts";
import { removeHistory } from "./history-removal.ts";
import { deleteItem } from "../items/store.ts";
import { actsAsOwner, readFileFor } from "../reach/items.ts";
import { BLOB_GRACE_MS, queueBlobDeletion } from "./store.ts";

/** Throws `owner_only`, `precondition_failed`, and for a file of a shared vault what {@link withOwnerProof} does. */
export async function deleteForGood(
  deps: ActingDeps & ProofDeps & Pick<Deps, "settings">,
  context: CreationContext<Principal>,
  { id: fileId, ifMatch, proof }: Named & { readonly proof: string | undefined },
): Promise<Recorded<undefined>> {
  const { principal } = context;
  if (principal.accessLevel !== "owner") throw ownerOnly();
  return withOwnerProof(deps, context, { act: "delete-file", fileId, proof }, (grantFor) =>
    actOnFullDisk(deps, principal, async (act) => {
      const { row, vault } = await readFileFor(act, principal, fileId);
      if (!actsAsOwner(principal, vault)) throw ownerOnly();
      requireUnchanged(ifMatch, row);
      requireWritten(await removeFile(act, deps, principal, row, grantFor(vault)));
      return context.record(act, new Reply(undefined, { status: 204 }));
    }),
  );
}

function ownerOnly(): ServiceError {
  return new ServiceError("owner_only", "Only the account owner may delete for good");
}

/**
 * Deletes a file for good: its row, its share of the usage, and, later, its blob. False: it is not as it was read, so nothing was deleted.
 * `actor`: null where it ends by time.
 */
export async function removeFile(
  act: AccountAct,
  deps: Pick<Deps, "clock" | "settings">,
  actor: Actor | null,
  row: FileRow,
  grant: DeletionGrant,
): Promise<boolean> {
  grant.requireFor({ vaultId: row.vault_id, isShared: row.shared_json !== null });
  act.requireAccount(row.account_id);
  if (!(await deleteItem(act, "file", row))) return false;
  const reason = actor === null ? "expired" : "deleted";
  await queueBlobDeletion(act, row, { notBefore: deps.clock.now() + BLOB_GRACE_MS, reason });
  act.free({ bytes: row.size, files: 1 });
  await releaseStored(act, row.budget_id, row.size);
  await recordChange(act, actor, "file.deleted", fileTarget(row));
  await removeHistory(act, deps, { id: row.id, vault_id: row.vault_id, reason });
  return true;
}
