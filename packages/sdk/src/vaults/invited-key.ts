/** The signing key of an agent that redeemed an invite: the service passes it on, and the invite's secret vouches for it. */
import { invitesGroup } from "@coffer/contract/invites";
import { callOn, type CallOptions } from "../call.ts";
import { checkAddressProof } from "../chain/proving.ts";
import { fromBase64 } from "../digest.ts";
import type { Connection } from "../options.ts";
import { VaultError } from "./vault-error.ts";

/**
 * The key with which whoever redeemed the invite signs; null: with its chain key.
 * @param text `<code>.<secret>`, as `invites.create` gave it.
 * @throws VaultError `address_invalid` unless it was this address that redeemed it, and held its secret.
 */
export async function findInvitedKey(
  connection: Connection,
  text: string,
  chainAddress: string,
  options?: CallOptions,
): Promise<Uint8Array | null> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
    const page = await callOn(connection, invitesGroup.list, { query }, options);
    const proven = page.invites.find(
      (invite) => invite.chainAddress === chainAddress && checkAddressProof(connection.place.origin, text, invite),
    );
    if (proven !== undefined) return proven.signingKey === null ? null : fromBase64(proven.signingKey);
    cursor = page.nextCursor;
  }
  throw new VaultError("address_invalid", `Nobody proved to hold the invite and the address ${chainAddress}`, {
    nextStep: "Ask the agent itself for its address, or make a new invite for it.",
  });
}
