/** Invites: how an owner hands out keys to agents without ever seeing their chain keys (specification §5.8). */
import type { CreatedInvite, Invite, RedeemedInvite } from "@coffer/contract";
import type { invitesGroup } from "@coffer/contract/invites";
import type { CallOptions } from "../call.ts";
import type { ProvenInvite } from "../chain/proving.ts";
import type { Signer } from "../chain/signer.ts";
import type { Connection } from "../options.ts";
import { PagePromise } from "../pages.ts";
import { callingOn, onDemand, withCursor, type Body, type Query } from "./calling.ts";

type Invites = typeof invitesGroup;

export interface NewInvite extends CreatedInvite {
  /**
   * `<code>.<secret>`: what to hand to the agent. The secret was made here and never reaches the service; keep the text until the invite
   * is used, to check with {@link InviteResource.checkAddressProof} that the address is the agent's own.
   */
  readonly text: string;
}

export interface InviteResource {
  create(input: Body<Invites["create"]>, options?: CallOptions): Promise<NewInvite>;
  /** With what became of each, newest first. */
  list(query?: Query<Invites["list"]>, options?: CallOptions): PagePromise<"invites", Invite>;
  /** At once; a second call changes nothing, and an invite that was used stays used. */
  revoke(inviteId: string, options?: CallOptions): Promise<void>;
  /**
   * Exchanges an invite for a key bound to the signer's chain address. Needs no credential. The secret of the invite stays here.
   *
   * @example
   * ```ts
   * const signer = await chainKeySigner((await generateChainKey()).privateKey);
   * const { key, chainAddress } = await client.invites.redeem(text, signer);
   * ```
   */
  redeem(text: string, signer: Signer, options?: CallOptions): Promise<RedeemedInvite>;
  /**
   * Whether who redeemed the invite held its secret and gave this address: the service could not have put in one of its own. `text`: what
   * {@link InviteResource.create} gave; `signingKey`: the one to look for, in the place of the one that the invite names.
   */
  checkAddressProof(text: string, invite: ProvenInvite, signingKey?: Uint8Array): Promise<boolean>;
}

/** What calls and what signs is loaded when it is first used. */
export function inviteResource(connection: Connection): InviteResource {
  const calls = async () => (await import("./invite-calls.ts")).inviteCalls(callingOn(connection));
  return {
    create: async (body, options) => {
      const invite = await (await calls()).create(body, options);
      return { ...invite, text: (await proving()).renderInviteText(invite.code) };
    },
    list: (query = {}, options) =>
      new PagePromise(
        "invites",
        async (cursor) => (await calls()).list(withCursor(query, cursor), options),
        query.cursor,
      ),
    ...onDemand(calls, "revoke"),
    redeem: async (text, signer, options) =>
      (await proving()).redeem(callingOn(connection), connection.place, text, signer, options),
    checkAddressProof: async (text, invite, signingKey) =>
      (await proving()).checkAddressProof(connection.place.origin, text, invite, signingKey),
  };
}

const proving = () => import("../chain/proving.ts");
