/** Everything that is signed for a chain address, and the secrets of invites. Loaded on demand. */
import { clientApi as api, type Account, type CreatedApiKey, type Invite, type RedeemedInvite } from "@coffer/contract";
import { apiKeysGroup } from "@coffer/contract/api-keys";
import { invitesGroup } from "@coffer/contract/invites";
import { isInviteCode } from "@coffer/contract/key-text";
import { renderKeyAddressText, renderLinkText, renderRedeemText } from "@coffer/contract/proof-texts";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import type { CallOptions } from "../call.ts";
import { fromBase64, toBase64, toHex } from "../digest.ts";
import { ContractError } from "../errors.ts";
import type { Body, Calling } from "../resources/calling.ts";
import type { Place, Signer } from "./signer.ts";

/** Signs a text that this client made. */
function signText(signer: Signer, text: string): Promise<string> {
  return signer.signPersonalMessage(new TextEncoder().encode(text));
}

type Options = CallOptions & { readonly accountId?: string | undefined };

/** Challenge, signature and link in one. */
export async function linkChain(
  call: Calling,
  place: Place,
  signer: Signer,
  { accountId, ...options }: Options = {},
): Promise<Account> {
  const { chainAddress } = signer;
  const account = await accountIdOf(call, accountId, options);
  const { nonce } = await call(api.account.linkChainChallenge, {}, options);
  const text = renderLinkText({ ...place, chainAddress, accountId: account, nonce });
  const body = { chainAddress, nonce, signature: await signText(signer, text) };
  return (await call(api.account.linkChain, { body }, options)).account;
}

/** An API key bound to the signer's address. */
export async function createBoundKey(
  call: Calling,
  place: Place,
  signer: Signer,
  input: Body<typeof apiKeysGroup.create>,
  { accountId, ...options }: Options = {},
): Promise<CreatedApiKey> {
  const { chainAddress } = signer;
  if (input.chainAddress !== undefined && input.chainAddress !== chainAddress)
    throw new ContractError("request", apiKeysGroup.create.id, ["chainAddress: is not the signer's"]);
  const account = await accountIdOf(call, accountId, options);
  const signedAt = Date.now();
  const text = renderKeyAddressText({ ...place, chainAddress, accountId: account, signedAt });
  const addressProof = { signature: await signText(signer, text), signedAt };
  return call(apiKeysGroup.create, { body: { ...input, chainAddress, addressProof } }, options);
}

async function accountIdOf(call: Calling, known: string | undefined, options: CallOptions): Promise<string> {
  return known ?? (await call(api.account.get, {}, options)).account.id;
}

const SECRET_BYTES = 32;

/** The code with a fresh secret behind it: 256 bits in base64url. */
export function renderInviteText(code: string): string {
  const secret = toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  return `${code}.${secret.replaceAll("+", "-").replaceAll("/", "_").replace("=", "")}`;
}

/** A code without a secret is taken too: then nobody can check later whose address it is. */
function parseInviteText(text: string): { readonly code: string; readonly secret: Uint8Array | null } {
  const [, code = "", secret] = /^([^.]*)(?:\.([\w-]{43}))?$/.exec(text.trim()) ?? [];
  if (!isInviteCode(code)) throw new ContractError("request", invitesGroup.redeem.id, ["text: is not an invite"]);
  return { code, secret: secret === undefined ? null : bytesOfBase64url(secret) };
}

function bytesOfBase64url(text: string): Uint8Array {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Sends the code and two proofs: that the signer holds the address, and that who redeems holds the secret. */
export async function redeem(
  call: Calling,
  place: Place,
  text: string,
  signer: Signer,
  options?: CallOptions,
): Promise<RedeemedInvite> {
  const { code, secret } = parseInviteText(text);
  const { chainAddress } = signer;
  const signingKey = await signingKeyOf(signer);
  const signedAt = Date.now();
  const codeHash = toHex(sha256(new TextEncoder().encode(code)));
  const signature = await signText(signer, renderRedeemText({ ...place, chainAddress, codeHash, signedAt }));
  const proof =
    secret === null ? {} : { addressProof: proveAddress(secret, code, place.origin, chainAddress, signingKey) };
  const key = signingKey === undefined ? {} : { signingKey: toBase64(signingKey) };
  return call(invitesGroup.redeem, { body: { code, chainAddress, signature, signedAt, ...proof, ...key } }, options);
}

/** Absent where the chain key is its own: then the address, its hash, says all of it. */
async function signingKeyOf({ chainAddress, signingKey, statements }: Signer): Promise<Uint8Array | undefined> {
  const key = signingKey ?? statements?.publicKey;
  const { addressOf } = await import("./ed25519.ts");
  return key === undefined || addressOf(key) === chainAddress ? undefined : key;
}

/** What the service says of a redeemed invite. */
export type ProvenInvite = Pick<Invite, "chainAddress" | "addressProof"> & Partial<Pick<Invite, "signingKey">>;

/** Whether the invite's proof was made with the secret in `text`, for this address and at this service. */
export function checkAddressProof(
  origin: string,
  text: string,
  { chainAddress, addressProof, signingKey: told = null }: ProvenInvite,
  signingKey = told === null ? undefined : (fromBase64(told) ?? new Uint8Array()),
): boolean {
  const { code, secret } = parseInviteText(text);
  if (secret === null || chainAddress === null || addressProof === null) return false;
  if (signingKey !== undefined && signingKey.length !== KEY_BYTES) return false;
  // No secret is compared here: who calls holds the key of the HMAC, so a difference in time tells nobody anything.
  return proveAddress(secret, code, origin, chainAddress, signingKey) === addressProof;
}

const KEY_BYTES = 32;

/**
 * HMAC-SHA-256(secret, "coffer/invite/v1" ‖ 00 ‖ address ‖ signing key ‖ SHA-256(code) ‖ origin) in hex (encryption design §2). An
 * Ed25519 chain key is its own signing key and the address is its hash: zeros stand for it then.
 */
function proveAddress(
  secret: Uint8Array,
  code: string,
  origin: string,
  chainAddress: string,
  signingKey: Uint8Array = new Uint8Array(KEY_BYTES),
): string {
  if (signingKey.length !== KEY_BYTES) throw new RangeError("a signing key is 32 bytes");
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const mac = hmac
    .create(sha256, secret)
    .update(text("coffer/invite/v1\0"))
    .update(bytesOfHex(chainAddress.slice(2)));
  mac
    .update(signingKey)
    .update(sha256(text(code)))
    .update(text(origin));
  return toHex(mac.digest());
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
