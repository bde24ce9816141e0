/** The calls that files and folders have in common: they decrypt names of shared vaults. */
import type { CallOptions, Connection, UpdateOptions } from "../connection/options.ts";
import { MOVE, refuseUndefinedPlaces } from "../http/required-fields.ts";
import type { HeldOptions } from "../shared-vaults/names/vault-finder.ts";
import { type Item, type ItemChange, type Items, matching, withoutClaims } from "./items.ts";
import { sharedChanges } from "./known-names.ts";
import { sharedCode } from "../connection/shared-code.ts";

/** `given`: the caller's change in its own words; `change`: the same. */
interface Updating extends UpdateOptions {
  readonly given: object;
}

export function itemCalls<Kind extends Item>(connection: Connection, items: Items<Kind>) {
  const one = async (item: Kind, options?: HeldOptions): Promise<Kind> => {
    if (connection.sharedVaults === null) return withoutClaims(item);
    return (await sharedCode(connection)).nameOne(connection, items, item, options);
  };
  return {
    one,
    get: async (id: string, options?: CallOptions) => one(await items.get(connection, id, options), options),
    update: async (id: string, change: ItemChange, { given, ...updating }: Updating) => {
      refuseUndefinedPlaces(items.updateId, given, MOVE);
      refuseUndefinedPlaces(items.updateId, updating, MOVE);
      const { ifMatch, vaultId, ...options } = updating;
      const shared = await (await sharedChanges(connection))?.updateItem(connection, items, id, change, updating);
      if (shared != null) return shared;
      return one(await items.update(connection, id, change, matching(ifMatch), options), { ...options, vaultId });
    },
    restore: async (id: string, body: { readonly name?: string | undefined } = {}, restoring: UpdateOptions = {}) => {
      refuseUndefinedPlaces(items.restoreId, restoring, MOVE);
      const { ifMatch, vaultId, ...options } = restoring;
      const shared = await (await sharedChanges(connection))?.restoreItem(connection, items, id, body.name, restoring);
      if (shared != null) return shared;
      return one(await items.restore(connection, id, body, matching(ifMatch), options), { ...options, vaultId });
    },
  };
}
