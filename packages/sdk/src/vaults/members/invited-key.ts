/** Who redeemed an invite, and with which key it signs: the service passes both on, and the invite's secret vouches for them. */
import type { Invite } from "@coffer/contract";
import { invitesGroup } from "@coffer/contract/invites";
import { callOn } from "../../call.ts";
import { checkAddressProof } from "../../chain/proving.ts";
import { fromBase64 } from "../../digest.ts";
import type { Connection, CallOptions } from "../../options.ts";
import { vaultError } from "../vault-error.ts";

export interface InvitedAgent {
  readonly chainAddress: string;
  /** 32 bytes; null: it signs with its chain key. */
  readonly signingKey: Uint8Array | null;
}

/**
 * Whoever redeemed the invite and held its secret: of all that the service lists, the one whose proof fits.
 * @param text `<code>.<secret>…`, as `invites.create` gave it.
 * @throws VaultError `invite_unproven` where no address that the service shows is proven by it.
 */
export async function findInvited(connection: Connection, text: string, options?: CallOptions): Promise<InvitedAgent> {
  const proven = await findProven(connection, text, () => true, options);
  if (proven !== null) return proven;
  throw vaultError("invite_unproven", "Nobody that the service shows proved to hold this invite");
}

/**
 * The key with which whoever redeemed the invite signs; null: with its chain key.
 * @throws VaultError `address_invalid` unless it was this address that redeemed it, and held its secret.
 */
export async function findInvitedKey(
  connection: Connection,
  text: string,
  chainAddress: string,
  options?: CallOptions,
): Promise<Uint8Array | null> {
  const proven = await findProven(connection, text, (invite) => invite.chainAddress === chainAddress, options);
  if (proven !== null) return proven.signingKey;
  throw vaultError("address_invalid", `Nobody proved to hold the invite and the address ${chainAddress}`, {
    nextStep: "Ask the agent itself for its address, or make a new invite for it.",
  });
}

async function findProven(
  connection: Connection,
  text: string,
  isWanted: (invite: Invite) => boolean,
  options?: CallOptions,
): Promise<InvitedAgent | null> {
  const { origin } = connection.place;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
    const page = await callOn(connection, invitesGroup.list, { query }, options);
    for (const invite of page.invites) {
      const { chainAddress, signingKey } = invite;
      if (chainAddress === null || !isWanted(invite) || !checkAddressProof(origin, text, invite)) continue;
      return { chainAddress, signingKey: signingKey === null ? null : fromBase64(signingKey) };
    }
    cursor = page.nextCursor;
  }
  return null;
}
