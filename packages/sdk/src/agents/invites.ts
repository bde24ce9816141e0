/** Invites: how an owner gives keys to agents without ever seeing their chain keys (specification §5.8). */
import { invitesGroup, type api, type Invite } from "@coffer/contract";
import { checkAddressProof, type ProvenInvite } from "../account/address-proof.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { callOn } from "../http/call.ts";
import type { Body, ListQuery } from "../http/endpoint-types.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import { createInvite, redeemInvite } from "../shared-vaults/members/vault-invites.ts";
import type { NewInvite, RedeemOptions, RedeemedAgent } from "../shared-vaults/members/vault-invites.ts";
import type { Signer } from "../signers/signer.ts";
import { parseInviteText, type Told } from "./invite-text.ts";

/** Input of `invites.create`. */
export interface InviteCreateInput extends Body<typeof api.invites.create> {}

/** Input of `invites.list`. */
export interface InviteListQuery extends ListQuery<typeof api.invites.list> {}

export interface InviteResource {
  /** Makes an invite that works once. Only this answer holds its code. */
  create(input: InviteCreateInput, options?: CallOptions): Promise<NewInvite>;
  /** Lists all invites with their state, newest first. */
  list(query?: InviteListQuery, options?: CallOptions): PagePromise<"invites", Invite>;
  /** Revokes the invite at once; a second call changes nothing, and a used invite stays used. */
  revoke(inviteId: string, options?: CallOptions): Promise<void>;
  /**
   * Exchanges an invite for a key bound to the signer's chain address. Needs no credential. The secret of the invite
   * stays here.
   * @throws VaultError `vault_changed` before anything is sent. The invite then names another object, owner or network
   * of a vault than this client has pinned.
   *
   * @example
   * ```ts
   * const signer = await chainKeySigner((await generateChainKey()).privateKey);
   * const { key, chainAddress } = await client.invites.redeem(text, signer, { pins: pinStore(fileStore()) });
   * ```
   */
  redeem(text: string, signer: Signer, options?: RedeemOptions): Promise<RedeemedAgent>;
  /**
   * Checks whether the redeemer held the invite's secret and gave this address: the service could not have put in one of
   * its own. `text`: the text of {@link InviteResource.create}. `signingKey`: the key to look for, instead of the one that
   * the invite names.
   */
  checkAddressProof(text: string, invite: ProvenInvite, signingKey?: Uint8Array): Promise<boolean>;
  /**
   * Reads what the maker of an invite decided, from its text alone: when the access ends, and its shared vaults. Asks no
   * service.
   * @throws ContractError `invalid_request` for a text that is no invite.
   */
  readText(text: string): Promise<Told>;
}

export function inviteResource(connection: Connection): InviteResource {
  const { list, revoke } = invitesGroup;
  return {
    create: (body, options) => createInvite(connection, body, options),
    list: (query = {}, options) =>
      paged("invites", query, (page) => callOn(connection, list, { query: page }, options)),
    revoke: (inviteId, options) => callOn(connection, revoke, { params: { inviteId } }, options),
    redeem: (text, signer, options) => redeemInvite(connection, text, signer, options),
    checkAddressProof: async (text, invite, signingKey) =>
      checkAddressProof(connection.service.origin, text, invite, signingKey),
    readText: async (text) => parseInviteText(text).told,
  };
}
