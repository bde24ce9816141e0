/** Binding a new key to a chain address: the key's holder acts as the address, so the address's holder must have signed. */
import { type AccessLevel, renderKeyAddressText } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal, RequestContext } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import type { AccountAct } from "../account/act.ts";
import { findAccountByAddress, lockAddress } from "../account/store.ts";
import { requireFresh, requireProof, requireServiceOrigin } from "../chain-proofs/rules.ts";
import { accessLevelOf } from "../account/lives.ts";

export interface WantedBinding {
  readonly chainAddress?: string | undefined;
  readonly addressProof?: { readonly signature: string; readonly signedAt: string } | undefined;
}

/** That the holder of the address agrees. */
export interface ProvenAddress {
  /** The Ed25519 key that signed, in base64; null: another kind of signer. */
  readonly publicKey: string | null;
}

/**
 * What a proof of possession showed; null: no proof came along. Rejects with `clock_skew` or `signature_invalid` when it does not hold, and as
 * `requireProof` does; no transaction waits for it.
 */
export async function verifyBinding(
  { clock, settings, signatures }: Pick<Deps, "clock" | "settings" | "signatures">,
  { principal, serviceOrigin }: Pick<RequestContext<Principal>, "principal" | "serviceOrigin">,
  { chainAddress, addressProof }: WantedBinding,
): Promise<ProvenAddress | null> {
  if (addressProof === undefined) return null;
  if (chainAddress === undefined) {
    throw new ServiceError("validation_failed", "body.addressProof: chainAddress must say what it proves");
  }
  const { signature, signedAt } = addressProof;
  requireFresh(signedAt, clock.now());
  const origin = requireServiceOrigin(serviceOrigin);
  const { accountId } = principal;
  const text = renderKeyAddressText({ origin, network: settings.network, chainAddress, accountId, signedAt });
  return { publicKey: await requireProof({ signatures }, { chainAddress, text, signature }) };
}

/** What a key is bound to, and the access level that this makes (specification §2.6). */
export interface Binding {
  readonly level: AccessLevel;
  readonly chainAddress: string | null;
  /** Ed25519 in base64; null where it is not known. */
  readonly chainPublicKey: string | null;
}

/**
 * `proven` is what {@link verifyBinding} found; the account's own address has been proven before. Throws `signature_invalid` for another address than the
 * account's own without a proof, and `address_conflict` for one that is another account's.
 */
export async function requireBinding(
  act: AccountAct,
  wanted: { readonly chainAddress: string | null; readonly proven: ProvenAddress | null },
): Promise<Binding> {
  const { chainAddress, proven } = wanted;
  if (chainAddress === null) return { level: "owner", chainAddress, chainPublicKey: null };
  const { chain_address, chain_public_key } = act.account;
  const level = accessLevelOf(chainAddress, chain_address);
  if (level === "owner") return { level, chainAddress, chainPublicKey: proven?.publicKey ?? chain_public_key };
  if (proven === null) {
    throw new ServiceError(
      "signature_invalid",
      "An address other than the account's linked one needs addressProof: its signature of the key address text",
    );
  }
  await lockAddress(act, chainAddress);
  if ((await act.first(findAccountByAddress(act, { chainAddress }))) !== null) {
    throw new ServiceError("address_conflict", "Another account has linked the chain address");
  }
  return { level, chainAddress, chainPublicKey: proven.publicKey };
}
