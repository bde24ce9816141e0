/** Deleting one file for good. */
import { type Principal, Reply, type RequestContext } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { FileRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { changeUsage } from "../account/store.ts";
import { type ActingDeps, fileTarget, noteChange } from "../acting.ts";
import { type DeletionGrant, type ProofDeps, withOwnerProof } from "../deletion/grants.ts";
import { actsAsOwner, readFileFor } from "../reaching.ts";
import { dropKeptVersions } from "./kept-versions-store.ts";
import { BLOB_GRACE_MS, deleteFileRow, queueBlobDeletion } from "./store.ts";

/** Throws `owner_only`, and for a file of a shared vault what {@link withOwnerProof} does. */
export async function deleteForGood(
  deps: ActingDeps & ProofDeps,
  context: RequestContext<Principal>,
  { fileId, proof }: { readonly fileId: string; readonly proof: string | undefined },
): Promise<Reply<undefined>> {
  const { principal } = context;
  if (principal.accessLevel !== "owner") throw ownerOnly();
  await withOwnerProof(deps, context, { act: "delete-file", fileId, proof }, (grantFor) =>
    deps.database.transaction(
      async (transaction) => {
        const { row, vault } = await readFileFor(transaction, principal, fileId);
        if (!actsAsOwner(principal, vault)) throw ownerOnly();
        await removeFile(transaction, deps, principal, row, grantFor(vault));
      },
      { freesSpace: true },
    ),
  );
  return new Reply(undefined, { status: 204 });
}

function ownerOnly(): ServiceError {
  return new ServiceError("owner_only", "Only the account owner may delete for good");
}

/** Deletes a file for good: its row, its share of the usage, and, later, its blob. */
export async function removeFile(
  transaction: Queries,
  deps: ActingDeps,
  principal: Principal,
  row: FileRow,
  grant: DeletionGrant,
): Promise<void> {
  grant.requireFor({ vaultId: row.vault_id, isShared: row.shared_json !== null });
  const notBefore = deps.clock.now() + BLOB_GRACE_MS;
  await deleteFileRow(transaction, row.id);
  await queueBlobDeletion(transaction, { blobKey: row.blob_key, notBefore });
  if (row.shared_json !== null) await dropKeptVersions(transaction, { fileId: row.id, notBefore });
  await changeUsage(transaction, {
    accountId: row.account_id,
    bytes: -row.size,
    files: -1,
    maximum: Number.MAX_SAFE_INTEGER,
  });
  await noteChange(transaction, deps, principal, "file.deleted", fileTarget(row));
}
