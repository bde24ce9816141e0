/** Deletions, perhaps for good. In a shared vault they need its owner's proof, which this makes when the service asks for it. */
import { vaultsGroup, restoringGroup, trashGroup, type Vault } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import { settleRepeat } from "../http/settle-repeat.ts";
import type { Connection, CallOptions, VaultDeletion } from "../connection/options.ts";
import { refuseUndefinedPlaces } from "../http/required-fields.ts";
import type { Query } from "../connection/call-fields.ts";
import { deleteWithProof } from "./owner-proof.ts";
import { requirePinned } from "./plain-vault-calls.ts";

export function deletionCalls(connection: Connection) {
  return {
    delete: async (vaultId: string, { force, permanent, ...options }: VaultDeletion = {}): Promise<Vault | null> => {
      const query = {
        ...(force === undefined ? {} : { force }),
        ...(permanent === undefined ? {} : { permanent }),
      };
      const act = permanent === true ? "purge-vault" : "delete-vault";
      const params = { vaultId };
      const deleted = await deleteWithProof(
        connection,
        { act, vaultId },
        (headers) => callOn(connection, vaultsGroup.delete, { params, query, headers }, options),
        options,
      );
      if (deleted === undefined) return null;
      await requirePinned(connection, [deleted.vault]);
      return deleted.vault;
    },
    restore: async (vaultId: string, body: { readonly name?: string } = {}, options?: CallOptions): Promise<Vault> => {
      const params = { vaultId };
      const restored = callOn(connection, restoringGroup.restore, { params, body }, options);
      const { vault } = await settleRepeat(restored, "not_trashed", async () => {
        const now = await callOn(connection, vaultsGroup.get, { params }, options);
        return body.name === undefined || body.name.normalize("NFC") === now.vault.name ? now : null;
      });
      await requirePinned(connection, [vault]);
      return vault;
    },
  };
}

export async function emptyTrash(connection: Connection, query: Query<typeof trashGroup.empty>, options?: CallOptions) {
  const { empty } = trashGroup;
  refuseUndefinedPlaces(empty.id, query, { vaultId: "for all vaults" });
  const { vaultId } = query;
  // If no vault is named, the service asks for no proof.
  if (vaultId === undefined) return callOn(connection, empty, { query }, options);
  const send = (headers: { readonly "coffer-proof"?: string }) =>
    callOn(connection, empty, { query, headers }, options);
  return deleteWithProof(connection, { act: "empty-trash", vaultId }, send, options);
}
