/** The calls that files and folders have in common: they decrypt, and encrypt, names of shared vaults. */
import type { CallOptions, Connection, UpdateOptions } from "../connection/options.ts";
import { sharedCode, sharedCodeOrNull } from "../connection/shared-code.ts";
import { MOVE, refuseUndefinedPlaces } from "../http/required-fields.ts";
import type { HeldOptions } from "../shared-vaults/names/vault-finder.ts";
import { ifMatchHeader, type Item, type ItemChange, type Items, withoutClaims } from "./items.ts";

export class ItemCalls<Kind extends Item> {
  readonly #connection: Connection;
  readonly #items: Items<Kind>;

  constructor(connection: Connection, items: Items<Kind>) {
    this.#connection = connection;
    this.#items = items;
  }

  /** The item as this client may show it: with its name decrypted and its authors verified, or without authors. */
  async named(item: Kind, options?: HeldOptions): Promise<Kind> {
    if (this.#connection.sharedVaults === null) return withoutClaims(item);
    return (await sharedCode(this.#connection)).nameOne(this.#connection, this.#items, item, options);
  }

  async get(id: string, options?: CallOptions): Promise<Kind> {
    return this.named(await this.#items.get(this.#connection, id, options), options);
  }

  async update(id: string, change: ItemChange, updateOptions: UpdateOptions = {}): Promise<Kind> {
    const items = this.#items;
    refuseUndefinedPlaces(items.updateId, updateOptions, MOVE);
    const { ifMatch, vaultId, ...options } = updateOptions;
    const code = await sharedCodeOrNull(this.#connection);
    const shared = await code?.updateItem(this.#connection, items, id, change, updateOptions);
    if (shared != null) return shared;
    const item = await items.update(this.#connection, id, change, ifMatchHeader(ifMatch), options);
    return this.named(item, { ...options, vaultId });
  }

  async restore(
    id: string,
    body: { readonly name?: string | undefined } = {},
    updateOptions: UpdateOptions = {},
  ): Promise<Kind> {
    const items = this.#items;
    refuseUndefinedPlaces(items.restoreId, updateOptions, MOVE);
    const { ifMatch, vaultId, ...options } = updateOptions;
    const code = await sharedCodeOrNull(this.#connection);
    const shared = await code?.restoreItem(this.#connection, items, id, body.name, updateOptions);
    if (shared != null) return shared;
    const item = await items.restore(this.#connection, id, body, ifMatchHeader(ifMatch), options);
    return this.named(item, { ...options, vaultId });
  }
}
