/** Invites: how an owner hands out keys to agents without ever seeing their chain keys (specification §5.8). */
import type { CreatedInvite, Invite, RedeemedInvite } from "@coffer/contract";
import type { invitesGroup } from "@coffer/contract/invites";
import { callingOn, type CallOptions } from "../call.ts";
import type { ProvenInvite } from "../chain/proving.ts";
import type { Signer } from "../chain/signer.ts";
import type { Connection } from "../options.ts";
import { PagePromise } from "../pages.ts";
import type { PinStore, VaultPin } from "../vaults/memory/pins.ts";
import { onDemand, withCursor, type Body, type Query } from "./calling.ts";

type Invites = typeof invitesGroup;

export interface NewInvite extends CreatedInvite {
  /**
   * `<code>.<secret>`, and behind it which objects on the chain the shared vaults in `vaultIds` are, where this client was opened with
   * `sharedVaults`: what to hand to the agent, over another way than the service. The secret was made here and never reaches the service; keep
   * the text until the invite is used: `vaults.members.add(vaultId, { invite: text })` takes the agent's address by it.
   */
  readonly text: string;
}

export interface RedeemOptions extends CallOptions {
  /** Where what the invite tells of shared vaults is kept; the client's own (`sharedVaults.pins`) unless one is given. */
  readonly pins?: PinStore | undefined;
}

export interface RedeemedAgent extends RedeemedInvite {
  /** What the invite told of shared vaults. Without a place to keep it, give it to the client that will use the vaults, with `vaults.trust`. */
  readonly vaults: readonly VaultPin[];
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
   * const { key, chainAddress } = await client.invites.redeem(text, signer, { pins: filePins() });
   * ```
   *
   * @throws VaultError `vault_changed` before anything is sent, where the invite names another object, owner or network of a vault than this
   * client knows.
   */
  redeem(text: string, signer: Signer, options?: RedeemOptions): Promise<RedeemedAgent>;
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
    create: async (body, options) => (await inviting()).createInvite(connection, body, options),
    list: (query = {}, options) =>
      new PagePromise(
        "invites",
        async (cursor) => (await calls()).list(withCursor(query, cursor), options),
        query.cursor,
      ),
    ...onDemand(calls, "revoke"),
    redeem: async (text, signer, options) => (await inviting()).redeemInvite(connection, text, signer, options),
    checkAddressProof: async (text, invite, signingKey) =>
      (await import("../chain/proving.ts")).checkAddressProof(connection.place.origin, text, invite, signingKey),
  };
}

const inviting = () => import("../vaults/members/inviting.ts");
