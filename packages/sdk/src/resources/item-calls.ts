/** The calls that files and folders have in common: they decrypt names of shared vaults. */
import { settleRepeat } from "../settle-repeat.ts";
import type { CallOptions, Connection, PlaceOptions, UpdateOptions } from "../options.ts";
import { MOVE, refuseUndefinedPlaces } from "../undefined-place.ts";
import type { HeldOptions } from "../vaults/names/places.ts";
import { type Item, type ItemChange, type Items, withoutClaims } from "./items.ts";
import { isRestored, sharedChanges } from "./known-names.ts";
import { isChanged, revisionHeader } from "./revisions.ts";
import { sharedCode } from "../shared-code.ts";

/** `given`: the caller's change in its own words; `change`: the same. */
interface Updating extends UpdateOptions {
  readonly given: object;
}

export function itemCalls<Kind extends Item>(connection: Connection, items: Items<Kind>) {
  const one = async (item: Kind, options?: HeldOptions): Promise<Kind> => {
    if (connection.sharedVaults === null) return withoutClaims(item);
    return (await sharedCode(connection).listing()).nameOne(connection, items, item, options);
  };
  return {
    one,
    get: async (id: string, options?: CallOptions) => one(await items.get(connection, id, options), options),
    update: async (id: string, change: ItemChange, { given, ...updating }: Updating) => {
      refuseUndefinedPlaces(items.updateId, given, MOVE);
      refuseUndefinedPlaces(items.updateId, updating, MOVE);
      const { ifRevision, vaultId, ...options } = updating;
      const shared = await (await sharedChanges(connection))?.updateItem(connection, items, id, change, updating);
      if (shared != null) return shared;
      const updated = await settleRepeat(
        items.update(connection, id, change, revisionHeader(ifRevision), options),
        "precondition_failed",
        async () => {
          const now = await items.get(connection, id, options);
          return isChanged(now, items.facts(change), ifRevision) ? now : null;
        },
      );
      return one(updated, { ...options, vaultId });
    },
    restore: async (id: string, body: { readonly name?: string | undefined } = {}, restoring: PlaceOptions = {}) => {
      refuseUndefinedPlaces(items.restoreId, restoring, MOVE);
      const { vaultId, ...options } = restoring;
      const shared = await (await sharedChanges(connection))?.restoreItem(connection, items, id, body.name, restoring);
      if (shared != null) return shared;
      const restored = await settleRepeat(items.restore(connection, id, body, options), "not_trashed", async () => {
        const now = await items.get(connection, id, options);
        return isRestored(now, body.name) ? now : null;
      });
      return one(restored, { ...options, vaultId });
    },
  };
}
