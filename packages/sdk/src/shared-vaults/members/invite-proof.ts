/** The redeemer of an invite, and its signing key. The service passes both on, and the invite's secret vouches for them. */
import { invitesGroup, type Invite } from "@coffer/contract";
import { callOn } from "../../http/call.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../../http/every-page.ts";
import { checkAddressProof } from "../../account/address-proof.ts";
import { fromBase64 } from "../../transfer/digest.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import { vaultError } from "../vault-error.ts";

export interface InvitedAgent {
  readonly chainAddress: string;
  /** 32 bytes; null: it signs with its chain key. */
  readonly signingKey: Uint8Array | null;
}

/**
 * The redeemer who held the invite's secret: the one in the service's list whose proof fits.
 * @param text `<code>.<secret>…`, from `invites.create`.
 * @throws VaultError `invite_unproven` if it proves no address that the service shows.
 */
export async function findInvited(connection: Connection, text: string, options?: CallOptions): Promise<InvitedAgent> {
  const proven = await findProven(connection, text, () => true, options);
  if (proven !== null) return proven;
  throw vaultError("invite_unproven", "Nobody that the service shows proved to hold this invite");
}

/**
 * The redeemer's signing key; null: its chain key.
 * @throws VaultError `address_invalid` unless this address redeemed it, and held its secret.
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
  const { origin } = connection.service;
  const { list } = invitesGroup;
  const load = (place: PageCursor) => callOn(connection, list, { query: { limit: 1000, ...place } }, options);
  for await (const { invites } of everyPage(list.id, load, MAX_PAGES_IN_MEMORY))
    for (const invite of invites) {
      const { chainAddress, signingKey } = invite;
      if (chainAddress === null || !isWanted(invite) || !checkAddressProof(origin, text, invite)) continue;
      return { chainAddress, signingKey: signingKey === null ? null : fromBase64(signingKey) };
    }
  return null;
}
