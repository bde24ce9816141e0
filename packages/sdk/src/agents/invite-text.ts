/**
 * The text of an invite: the inviter's client makes it, and the agent gets it on a channel other than the service
 * (file-format §13).
 */
import { invitesGroup, isInviteCode, endProblem } from "@coffer/contract";
import { fromBase64, toBase64, toHex } from "../transfer/digest.ts";
import { ContractError } from "../http/errors.ts";

/** A shared vault as its owner's client has pinned it. */
export interface ToldVault {
  /** A UUID. */
  readonly vaultId: string;
  /** 0x and 64 hex digits, like the address. */
  readonly chainObjectId: string;
  /** The address that changes the vault's allowlist. */
  readonly ownerAddress: string;
}

/** The shared vaults that an invite is for, so that its reader need not ask the service. */
export interface ToldVaults {
  /** The network of all these vaults. */
  readonly chainId: string;
  /**
   * SHA-256 of the network's file as the maker of the invite has it: 64 lower-case hex digits. Whoever redeems the invite may take that file
   * from the service. null: the invite does not say.
   */
  readonly networkDigest: string | null;
  /** 1 to {@link MAX_TOLD}. */
  readonly vaults: readonly ToldVault[];
}

/** What the invite's maker adds to it, past the service. */
export interface Told {
  /** When the access of the invite ends, as its maker set it (RFC 3339, a whole quarter of an hour); null: it has no end. */
  readonly accessUntil: string | null;
  /** Where the shared vaults of the invite are; null: it is for none, or says nothing of them. */
  readonly vaults: ToldVaults | null;
}

export const TOLD_NOTHING: Told = { accessUntil: null, vaults: null };

export interface InviteText {
  readonly code: string;
  /** 32 bytes; null: a code alone. Then nobody can check later whose address it is. */
  readonly secret: Uint8Array | null;
  readonly told: Told;
  /** The bytes that `told` was parsed from. */
  readonly toldBytes: Uint8Array | null;
}

/** Shared vaults in one invite: what it tells stays below 7,000 characters. */
export const MAX_TOLD = 64;

const SECRET_BYTES = 32;

/** The code with a fresh secret behind it, 256 bits in base64url, and what the maker added. */
export function renderInviteText(code: string, told: Told = TOLD_NOTHING): string {
  const parts = [code, toBase64url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))];
  const hasTold = told.accessUntil !== null || told.vaults !== null;
  return (hasTold ? [...parts, toBase64url(encodeTold(told))] : parts).join(".");
}

/** @throws ContractError `invalid_request` for a text that is no invite: nothing was sent. */
export function parseInviteText(text: string): InviteText {
  const [, code = "", secret, rest] = /^([^.]{0,256})(?:\.([\w-]{43})(?:\.([\w-]{1,7000}))?)?$/.exec(text.trim()) ?? [];
  const toldBytes = rest === undefined ? null : fromBase64url(rest);
  const told = rest === undefined ? TOLD_NOTHING : toldBytes === null ? null : decodeTold(toldBytes);
  if (!isInviteCode(code) || told === null) throw notAnInvite();
  // The last of 43 characters holds two bits that belong to no byte. The parser ignores them.
  return { code, secret: secret === undefined ? null : bytesOfBase64url(secret), told, toldBytes };
}

function notAnInvite(): ContractError {
  return new ContractError("request", invitesGroup.redeem.id, ["text: is not an invite"]);
}

/** Without the digest of a network's file, and with it. */
const VERSION = { plain: 1, digest: 2 } as const;
const HEAD_BYTES = 1 + 8;
const NO_END = (1n << 64n) - 1n;
const DIGEST_BYTES = 32;
const VAULT_BYTES = 16 + 32 + 32;
/** The id in a network configuration: a digest in base58. */
const CHAIN_ID = /^[1-9A-HJ-NP-Za-km-z]{32,64}$/;

/**
 * The bytes begin with 01 or 02, and the end of the access: 8 bytes, big endian, milliseconds since 1970; all ones: none. If
 * the invite names vaults, the network follows: length of the chain id (1) ‖ chain id. After 02, which always names vaults, the digest of the
 * network's file(32) is next. Then comes uuid(16) ‖ object id(32) ‖ owner(32) for each vault, in the order of their uuids.
 */
function encodeTold({ accessUntil, vaults }: Told): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES);
  head[0] = vaults === null || vaults.networkDigest === null ? VERSION.plain : VERSION.digest;
  new DataView(head.buffer).setBigUint64(1, accessUntil === null ? NO_END : BigInt(Date.parse(accessUntil)));
  const sorted = vaults === null ? null : inOrder(vaults);
  const bytes = Uint8Array.of(...head, ...(sorted === null ? [] : encodeVaults(sorted)));
  if (JSON.stringify(decodeTold(bytes)) !== JSON.stringify({ accessUntil, vaults: sorted }))
    throw new RangeError("an invite cannot tell of this");
  return bytes;
}

function inOrder({ chainId, networkDigest, vaults }: ToldVaults): ToldVaults {
  const sorted = vaults
    .map(({ vaultId, chainObjectId, ownerAddress }) => ({ vaultId, chainObjectId, ownerAddress }))
    .sort((a, b) => (a.vaultId < b.vaultId ? -1 : 1));
  return { chainId, networkDigest, vaults: sorted };
}

function encodeVaults({ chainId, networkDigest, vaults }: ToldVaults): Uint8Array {
  const text = new TextEncoder().encode(chainId);
  const hex = vaults.map(
    (vault) => vault.vaultId.replaceAll("-", "") + hexOf(vault.chainObjectId) + hexOf(vault.ownerAddress),
  );
  return Uint8Array.of(text.length, ...text, ...bytesOfHex([networkDigest ?? "", ...hex].join("")));
}

/** null for anything but the one encoding of an end, of 1 to {@link MAX_TOLD} vaults, or of both. */
function decodeTold(bytes: Uint8Array): Told | null {
  const [version] = bytes;
  if (bytes.length < HEAD_BYTES || (version !== VERSION.plain && version !== VERSION.digest)) return null;
  const end = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(1);
  if (end !== NO_END && endProblem(Number(end)) !== null) return null;
  const accessUntil = end === NO_END ? null : new Date(Number(end)).toISOString();
  const rest = bytes.subarray(HEAD_BYTES);
  if (rest.length === 0 && version === VERSION.plain)
    return accessUntil === null ? null : { accessUntil, vaults: null };
  const vaults = decodeVaults(rest, version === VERSION.digest ? DIGEST_BYTES : 0);
  return vaults === null ? null : { accessUntil, vaults };
}

function decodeVaults(bytes: Uint8Array, digestBytes: number): ToldVaults | null {
  const [length = 0] = bytes;
  const chainId = String.fromCharCode(...bytes.subarray(1, 1 + length));
  const digest = bytes.subarray(1 + length, 1 + length + digestBytes);
  const rest = bytes.subarray(1 + length + digestBytes);
  const count = rest.length / VAULT_BYTES;
  if (!CHAIN_ID.test(chainId) || !Number.isInteger(count) || count < 1 || count > MAX_TOLD) return null;
  const vaults = Array.from({ length: count }, (_, at) => decodeVault(rest.subarray(at * VAULT_BYTES)));
  const areInOrder = vaults.every(({ vaultId }, at) => at === 0 || vaultId > (vaults[at - 1]?.vaultId ?? ""));
  return areInOrder ? { chainId, networkDigest: digestBytes === 0 ? null : toHex(digest), vaults } : null;
}

function decodeVault(bytes: Uint8Array): ToldVault {
  const uuid = toHex(bytes.subarray(0, 16));
  return {
    vaultId: uuid.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
    chainObjectId: `0x${toHex(bytes.subarray(16, 48))}`,
    ownerAddress: `0x${toHex(bytes.subarray(48, VAULT_BYTES))}`,
  };
}

function toBase64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Without padding, in the one form that its bytes have (RFC 4648 §5). */
function fromBase64url(text: string): Uint8Array | null {
  const padding = "=".repeat((4 - (text.length % 4)) % 4);
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/") + padding);
}

function bytesOfBase64url(text: string): Uint8Array {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function hexOf(address: string): string {
  return address.slice(2);
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
