/** The account itself. */
import { accountGroup, type Account, type api } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { Body, Result } from "../http/endpoint-types.ts";
import type { AccountOptions, Connection, CallOptions } from "../connection/options.ts";
import type { Signer } from "../signers/signer.ts";
import { linkChain } from "./address-proof.ts";

/** Input of `account.update`. */
export interface AccountUpdateInput extends Body<typeof api.account.update> {}

/** Result of `account.get`. */
export interface AccountWithCredential extends Result<typeof api.account.get> {}

export interface AccountResource {
  /** Reads the account, and the rights of this client's credential. */
  get(options?: CallOptions): Promise<AccountWithCredential>;
  /** Changes the account's name. */
  update(changes: AccountUpdateInput, options?: CallOptions): Promise<Account>;
  /**
   * Links the signer's chain address to the account: gets a challenge, signs a text made here, and sends it. Without
   * `accountId` it asks the service for the account's id.
   */
  linkChain(signer: Signer, options?: AccountOptions): Promise<Account>;
}

export function accountResource(connection: Connection): AccountResource {
  return {
    get: (options) => callOn(connection, accountGroup.get, {}, options),
    update: async (body, options) => (await callOn(connection, accountGroup.update, { body }, options)).account,
    linkChain: (signer, options) => linkChain(connection, signer, options),
  };
}
