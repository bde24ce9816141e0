/** The proof of a shared vault's owner before a deletion in it (encryption design §7). */
import { filesGroup, accountGroup, renderDeletionText, deletionGroup, type DeletionOf } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import type { VaultPin } from "./trust/pins.ts";
import { findVaultOf } from "./names/vault-finder.ts";
import { vaultError } from "./vault-error.ts";
import { requireSameNetwork, vaultRegistry } from "./client-vaults.ts";

/** One of the two: the vault, or a file or a version of one by their ids alone. */
export type Deleted =
  | { readonly act: Exclude<DeletionOf["act"], DeletedFile["act"]>; readonly vaultId: string }
  | DeletedFile;
interface DeletedFile {
  readonly act: "delete-file" | "delete-version";
  readonly fileId: string;
  readonly versionId?: string;
}

/**
 * The header `Coffer-Proof` for one attempt. Vault and object come from this client's pin, the file from the caller.
 * The service chooses only the nonce.
 * @throws VaultError `vault_changed` for a vault that was public when it was first met.
 */
export async function proveDeletion(
  connection: Connection,
  deleted: Deleted,
  options?: CallOptions,
): Promise<{ readonly "coffer-proof": string }> {
  const registry = vaultRegistry(connection);
  const { deletion, pin } = await whereOf(connection, deleted, options);
  if (pin === null || pin.chainObjectId === null) {
    const message =
      "The vault was public when this client first met it, and now the service asks for the proof of a shared one";
    throw vaultError("vault_changed", message);
  }
  requireSameNetwork(registry, pin);
  const { account } = await callOn(connection, accountGroup.get, {}, options);
  const { vaultId, ...body } = deletion;
  const { nonce } = await callOn(connection, deletionGroup.challenge, { params: { vaultId }, body }, options);
  const { chainAddress } = registry.signer;
  const whose = { accountId: account.id, chainObjectId: pin.chainObjectId };
  const text = renderDeletionText({ ...connection.service, chainAddress, ...whose, ...deletion, nonce });
  const signature = await registry.signer.signPersonalMessage(new TextEncoder().encode(text));
  return { "coffer-proof": `${nonce}.${signature}` };
}

interface Where {
  /** Ids in lower case, as the service writes them: it makes the text again from its own. */
  readonly deletion: DeletionOf;
  /** null: a public vault. */
  readonly pin: VaultPin | null;
}

/** A vault that the caller names is pinned; one from the answer to a file's id is read, and not pinned. */
async function whereOf(connection: Connection, deleted: Deleted, options?: CallOptions): Promise<Where> {
  if ("vaultId" in deleted) {
    const vaultId = deleted.vaultId.toLowerCase();
    return { deletion: { act: deleted.act, vaultId }, pin: await vaultRegistry(connection).pin(vaultId, options) };
  }
  const fileId = deleted.fileId.toLowerCase();
  const { file } = await callOn(connection, filesGroup.get, { params: { fileId } }, options);
  const vault = await findVaultOf(connection, file, { ...options, sends: false });
  const version = deleted.versionId === undefined ? {} : { versionId: deleted.versionId.toLowerCase() };
  const deletion = { act: deleted.act, vaultId: vault?.id ?? file.vaultId, fileId, ...version };
  return { deletion, pin: vault?.pin ?? null };
}
