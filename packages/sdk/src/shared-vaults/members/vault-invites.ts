/** Invites that name their shared vaults, so that an agent's first meeting with one does not depend on the service. */
import { invitesGroup, type CreatedInvite, type RedeemedInvite } from "@coffer/contract";
import { callOn } from "../../http/call.ts";
import {
  MAX_TOLD,
  parseInviteText,
  renderInviteText,
  type ToldVault,
  type ToldVaults,
} from "../../agents/invite-text.ts";
import { redeem } from "../../account/address-proof.ts";
import type { Signer } from "../../signers/signer.ts";
import { ContractError } from "../../http/errors.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import type { Body } from "../../http/endpoint-types.ts";
import { describePin } from "../trust/pin-facts.ts";
import { pinFirst } from "../trust/pin-changes.ts";
import { isSamePin, type PinStore, type VaultPin } from "../trust/pins.ts";
import { vaultChanged } from "../vault-changed.ts";
import { sharedCode } from "../../connection/shared-code.ts";

/** The invite names its shared vaults by this client's own pins. A client without `sharedVaults` has none to name. */
export async function createInvite(
  connection: Connection,
  input: Body<typeof invitesGroup.create>,
  options?: CallOptions,
): Promise<NewInvite> {
  const vaults = await findTold(connection, input.vaultIds ?? [], options);
  const { accessUntil = null } = input;
  const invite = await callOn(connection, invitesGroup.create, { body: input }, options);
  // The end that was asked for, whatever the service answers: the membership will use it.
  return { ...invite, text: renderInviteText(invite.code, { accessUntil, vaults }) };
}

async function findTold(
  connection: Connection,
  vaultIds: readonly string[],
  options?: CallOptions,
): Promise<ToldVaults | null> {
  if (connection.sharedVaults === null) return null;
  const { vaultRegistry } = await sharedCode(connection);
  const registry = vaultRegistry(connection);
  const vaults: ToldVault[] = [];
  for (const vaultId of new Set(vaultIds)) {
    const { shared, chainObjectId, ownerAddress } = await registry.pin(vaultId, options);
    if (shared && chainObjectId !== null && ownerAddress !== null)
      vaults.push({ vaultId, chainObjectId, ownerAddress });
  }
  if (vaults.length > MAX_TOLD)
    throw new ContractError("request", invitesGroup.create.id, [`vaultIds: at most ${MAX_TOLD} shared vaults`]);
  const { network, networkDigest = null } = connection.sharedVaults;
  return vaults.length === 0 ? null : { chainId: network.chainId, networkDigest, vaults };
}

/** The invite's content is kept before the invite is used: a crash between the two loses nothing. */
export async function redeemInvite(
  connection: Connection,
  text: string,
  signer: Signer,
  { pins, ...options }: RedeemOptions = {},
): Promise<RedeemedAgent> {
  const { vaults: named } = parseInviteText(text).told;
  const vaults = named === null ? [] : pinsOf(connection, named);
  if (named !== null) {
    await requireNetwork(connection, named);
    const store = pins ?? (await findStore(connection));
    if (store !== null) await savePins(store, vaults);
  }
  const redeemed = await redeem(connection, text, signer, options);
  return { ...redeemed, vaults };
}

async function findStore(connection: Connection): Promise<PinStore | null> {
  if (connection.sharedVaults === null) return null;
  const { vaultRegistry } = await sharedCode(connection);
  return vaultRegistry(connection).pins;
}

function pinsOf({ service: { origin } }: Connection, { chainId, vaults }: ToldVaults): VaultPin[] {
  return vaults.map(({ vaultId, chainObjectId, ownerAddress }) => ({
    origin,
    vaultId,
    shared: true,
    chainObjectId,
    ownerAddress,
    chainId,
  }));
}

async function requireNetwork({ sharedVaults }: Connection, { chainId }: ToldVaults): Promise<void> {
  const configured = sharedVaults?.network.chainId ?? chainId;
  if (configured === chainId) return;
  throw vaultChanged(
    `The invite is for vaults on chain ${chainId}, but chain ${configured} is configured`,
    ASK_WHO_INVITED,
  );
}

/** A vault that this machine has pinned already stays pinned: neither an invite nor the service changes that silently. */
async function savePins(store: PinStore, pins: readonly VaultPin[]): Promise<void> {
  for (const pin of pins) {
    const pinned = await store.load(pin.origin, pin.vaultId);
    if (pinned !== null && !isSamePin(pinned, pin))
      throw vaultChanged(
        `Vault ${pin.vaultId} is pinned to ${describePin(pinned)}, and the invite says ${describePin(pin)}`,
        ASK_WHO_INVITED,
      );
  }
  for (const pin of pins) await pinFirst(store, pin, ASK_WHO_INVITED);
}

const ASK_WHO_INVITED =
  "Ask who made the invite, over the way it came, which is true; then call vaults.trust with it. The invite is not used yet.";

/** A new invite, with the text for the agent. */
export interface NewInvite extends CreatedInvite {
  /**
   * The text for the agent: `<code>.<secret>`, followed by `accessUntil` and the chain objects of the shared vaults in
   * `vaultIds`. The objects are there only if this client was opened with `sharedVaults`. Hand it over on a channel
   * other than the service. The secret was made here and never reaches the service. Keep the text until the invite is
   * used: `vaults.members.add(vaultId, { invite: text })` takes the agent's address by it.
   */
  readonly text: string;
}

/** For redeeming an invite. */
export interface RedeemOptions extends CallOptions {
  /** Where the invite's pins are kept. Default: the client's own (`sharedVaults.pins`). */
  readonly pins?: PinStore | undefined;
}

/** The key of an agent, and the vaults that its invite names. */
export interface RedeemedAgent extends RedeemedInvite {
  /**
   * The shared vaults that the invite names. Without a store for pins, pass them to the client that will use the
   * vaults, with `vaults.trust`.
   */
  readonly vaults: readonly VaultPin[];
}
