/** Everything that a chain address signs, and the secrets of invites. */
import {
  accountGroup,
  apiKeysGroup,
  invitesGroup,
  renderKeyAddressText,
  renderLinkText,
  renderRedeemText,
  type Account,
  type CreatedApiKey,
  type Invite,
  type RedeemedInvite,
} from "@coffer/contract";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { callOn } from "../http/call.ts";
import { fromBase64, toBase64, toHex } from "../transfer/digest.ts";
import { ContractError } from "../http/errors.ts";
import type { Body } from "../http/endpoint-types.ts";
import { parseInviteText, type InviteText } from "../agents/invite-text.ts";
import type { Signer } from "../signers/signer.ts";
import type { CallOptions, Connection } from "../connection/options.ts";

/** Signs a text that this client made. */
function signText(signer: Signer, text: string): Promise<string> {
  return signer.signPersonalMessage(new TextEncoder().encode(text));
}

type Options = CallOptions & { readonly accountId?: string | undefined };

/** Challenge, signature and link in one. */
export async function linkChain(
  connection: Connection,
  signer: Signer,
  { accountId, ...options }: Options = {},
): Promise<Account> {
  const { chainAddress } = signer;
  const account = await accountIdOf(connection, accountId, options);
  const { nonce } = await callOn(connection, accountGroup.linkChainChallenge, {}, options);
  const text = renderLinkText({ ...connection.service, chainAddress, accountId: account, nonce });
  const body = { chainAddress, nonce, signature: await signText(signer, text) };
  return (await callOn(connection, accountGroup.linkChain, { body }, options)).account;
}

/** An API key bound to the signer's address. */
export async function createBoundKey(
  connection: Connection,
  signer: Signer,
  input: Body<typeof apiKeysGroup.create>,
  { accountId, ...options }: Options = {},
): Promise<CreatedApiKey> {
  const { chainAddress } = signer;
  if (input.chainAddress !== undefined && input.chainAddress !== chainAddress)
    throw new ContractError("request", apiKeysGroup.create.id, ["chainAddress: is not the signer's"]);
  const account = await accountIdOf(connection, accountId, options);
  const signedAt = new Date().toISOString();
  const text = renderKeyAddressText({ ...connection.service, chainAddress, accountId: account, signedAt });
  const addressProof = { signature: await signText(signer, text), signedAt };
  return callOn(connection, apiKeysGroup.create, { body: { ...input, chainAddress, addressProof } }, options);
}

async function accountIdOf(
  connection: Connection,
  accountId: string | undefined,
  options: CallOptions,
): Promise<string> {
  return accountId ?? (await callOn(connection, accountGroup.get, {}, options)).account.id;
}

/** Sends the code and two proofs: the signer holds the address, and the redeemer holds the secret. */
export async function redeem(
  connection: Connection,
  text: string,
  signer: Signer,
  options?: CallOptions,
): Promise<RedeemedInvite> {
  const invite = parseInviteText(text);
  const { code } = invite;
  const { chainAddress } = signer;
  const signedAt = new Date().toISOString();
  const codeHash = toHex(sha256(new TextEncoder().encode(code)));
  const signature = await signText(
    signer,
    renderRedeemText({ ...connection.service, chainAddress, codeHash, signedAt }),
  );
  const signingKey = signingKeyOf(signer, signature);
  const addressProof = proveAddress(invite, connection.service.origin, chainAddress, signingKey);
  const proof = addressProof === null ? {} : { addressProof };
  const key = signingKey === undefined ? {} : { signingKey: toBase64(signingKey) };
  return callOn(
    connection,
    invitesGroup.redeem,
    { body: { code, chainAddress, signature, signedAt, ...proof, ...key } },
    options,
  );
}

/**
 * Absent if the chain key is its own signing key: the address, its hash, then says all of it. An Ed25519 signature of Sui names its
 * key: a zero, 64 bytes, and the key.
 */
function signingKeyOf({ signingKey, statements }: Signer, signature: string): Uint8Array | undefined {
  const key = signingKey ?? statements?.publicKey;
  const signed = fromBase64(signature);
  const isOwn = signed?.[0] === 0 && key !== undefined && toHex(signed.subarray(1 + 64)) === toHex(key);
  return isOwn ? undefined : key;
}

/** The service's record of a redeemed invite. */
export interface ProvenInvite extends Pick<Invite, "chainAddress" | "addressProof"> {
  /** Ed25519 key of the redeemer's statements: 32 bytes in base64. Default: null, its chain key signs them. */
  readonly signingKey?: string | null | undefined;
}

/** Whether the invite's proof was made with the secret in `text`, for this address and at this service. */
export function checkAddressProof(
  origin: string,
  text: string,
  { chainAddress, addressProof, signingKey: told = null }: ProvenInvite,
  signingKey = told === null ? undefined : (fromBase64(told) ?? new Uint8Array()),
): boolean {
  const invite = parseInviteText(text);
  if (chainAddress === null || addressProof === null) return false;
  // Zeros mean the chain key in the proof. As a key they would be a point of small order, which signs nothing.
  if (signingKey !== undefined && (signingKey.length !== KEY_BYTES || signingKey.every((byte) => byte === 0)))
    return false;
  // This compares no secret: the caller holds the key of the HMAC, so a difference in time discloses nothing.
  return proveAddress(invite, origin, chainAddress, signingKey) === addressProof;
}

const KEY_BYTES = 32;

/**
 * HMAC-SHA-256(secret, "coffer/invite/v1" ‖ 00 ‖ address ‖ signing key ‖ SHA-256(code) ‖ origin) in hex (file-format
 * §13). If the invite names vaults, 00 ‖ SHA-256(that part) follows. So its maker notices a text that was cut or
 * changed on its way. null: the text has no secret. An Ed25519 chain key is its own signing key and the address is its
 * hash: the field is zeros then.
 */
function proveAddress(
  { code, secret, toldBytes }: InviteText,
  origin: string,
  chainAddress: string,
  signingKey: Uint8Array = new Uint8Array(KEY_BYTES),
): string | null {
  if (secret === null) return null;
  if (signingKey.length !== KEY_BYTES) throw new RangeError("a signing key is 32 bytes");
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const mac = hmac.create(sha256, secret).update(text("coffer/invite/v1\0"));
  for (const part of [bytesOfHex(chainAddress.slice(2)), signingKey, sha256(text(code)), text(origin)])
    mac.update(part);
  if (toldBytes !== null) mac.update(text("\0")).update(sha256(toldBytes));
  return toHex(mac.digest());
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
