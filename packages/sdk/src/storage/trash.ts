/** The trash. Names in shared vaults are decrypted, and deletions in them proven, on the way. */
import { trashGroup, type api, type Vault } from "@coffer/contract";
import type { CallOptions, Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { callOn } from "../http/call.ts";
import type { ListQuery, Query, Result } from "../http/endpoint-types.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import { refuseUndefinedPlaces } from "../http/required-fields.ts";
import type { File } from "./item-types.ts";
import { FILES, withoutClaims } from "./items.ts";
import { withOwnerProof } from "./owner-proof.ts";
import { requirePinned } from "./vault-pins.ts";

/** Input of `trash.list`. */
export interface TrashListQuery extends Omit<ListQuery<typeof api.trash.list>, "kind"> {}

/** Input of `trash.empty`. */
export interface TrashEmptyQuery extends Query<typeof api.trash.empty> {}

/** What emptying the trash left alone. */
export interface EmptiedTrash extends Result<typeof api.trash.empty> {}

/** Which vaults of the trash to list. */
export interface TrashedVaultsQuery extends Omit<TrashListQuery, "vaultId"> {}

export interface TrashResource {
  /** Lists files in the trash, except those of vaults in the trash. */
  list(query?: TrashListQuery, options?: CallOptions): PagePromise<"files", File>;
  /** Lists the vaults in the trash, with everything in them. */
  vaults(query?: TrashedVaultsQuery, options?: CallOptions): PagePromise<"vaults", Vault>;
  /**
   * Deletes the files and folders in the trash for good: of one vault, or of all public ones. Their bytes leave the
   * server's disk 24 hours later. `leftVaults` then lists
   * shared vaults with something in their trash. Empty each by its id, with the chain key of its owner.
   */
  empty(query?: TrashEmptyQuery, options?: CallOptions): Promise<EmptiedTrash>;
}

export function trashResource(connection: Connection): TrashResource {
  const { list, empty } = trashGroup;
  return {
    list: (firstQuery = {}, options) =>
      paged("files", firstQuery, async (query) => {
        const listing = { ...options, eachByItself: true };
        const { files, nextCursor } = await callOn(connection, list, { query }, listing);
        if (connection.sharedVaults === null) return { files: files.map(withoutClaims), nextCursor };
        const { nameItems } = await sharedCode(connection);
        return { files: await nameItems(connection, FILES, files, { ...query, trashed: true }, options), nextCursor };
      }),
    vaults: (firstQuery = {}, options) =>
      paged("vaults", firstQuery, async (page) => {
        const query = { ...page, kind: "vaults" as const };
        const { vaults, nextCursor } = await callOn(connection, list, { query }, options);
        await requirePinned(connection, vaults);
        return { vaults, nextCursor };
      }),
    empty: async (query = {}, options) => {
      refuseUndefinedPlaces(empty.id, query, { vaultId: "for all vaults" });
      const { vaultId } = query;
      const send = (headers: { readonly "coffer-proof"?: string }) =>
        callOn(connection, empty, { query, headers }, options);
      // If no vault is named, the service asks for no proof.
      if (vaultId === undefined) return send({});
      return withOwnerProof(connection, { act: "empty-trash", vaultId }, send, options);
    },
  };
}
