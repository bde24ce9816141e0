/** Which uploads a caller may go on with. */
import type { Deps } from "../../../../deps.ts";
import type { Principal } from "../../../../handler.ts";
import type { Queries } from "../../../../ports/database.ts";
import type { UploadRow } from "../../../../ports/tables.ts";
import { ServiceError } from "../../../../service-error.ts";
import { notFound } from "../../../acting.ts";
import { findActingAddress, readVaultFor } from "../../../reach/access.ts";
import { expiryOf, readSigned } from "./rules.ts";
import { findUpload, findUploadOfMember } from "./store.ts";

/**
 * Uploads of the account. In a shared vault those whose version the caller signed, and all of them for the vault's
 * owner. Nobody can finish another member's, so nobody else may spoil it either. Throws `not_found`.
 */
export async function readUploadFor(queries: Queries, principal: Principal, id: string): Promise<UploadRow> {
  const own = await findUpload(queries, { id, accountId: principal.accountId });
  if (own !== null && own.shared_json === null) {
    await readVaultFor(queries, principal, own.vault_id, "Upload");
    return own;
  }
  const chainAddress = await findActingAddress(queries, principal);
  const upload = own ?? (chainAddress === null ? null : await findUploadOfMember(queries, { id, chainAddress }));
  if (upload === null) throw notFound("Upload");
  const vault = await readVaultFor(queries, principal, upload.vault_id, "Upload");
  if (vault.standing !== "owner" && readSigned(upload)?.version.signer !== chainAddress) throw notFound("Upload");
  return upload;
}

/** The same, before it has expired. A finished upload goes on answering until its row goes. Throws `upload_expired` as well. */
export async function readLiveUpload(
  deps: Pick<Deps, "database" | "clock">,
  principal: Principal,
  id: string,
): Promise<UploadRow> {
  const upload = await readUploadFor(deps.database, principal, id);
  if (upload.finished_file_id === null && expiryOf(upload) <= deps.clock.now())
    throw new ServiceError("upload_expired");
  return upload;
}
