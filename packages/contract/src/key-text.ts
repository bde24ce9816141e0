/**
 * The texts of API keys and invite codes: `<prefix>_` + 43 base62 digits (256 bits) + 6 base62 digits of CRC-32 (decisions §4).
 * The checksum lets scanners and clients drop typing errors without a look-up; it adds no security.
 */

import { INVITE_PREFIX, KEY_PREFIX } from "./key-form.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_DIGITS = 43;
const CHECKSUM_DIGITS = 6;

/** Renders 32 random bytes as the full key. Throws RangeError for another length. */
export function renderKey(secret: Uint8Array): string {
  return renderSecret(KEY_PREFIX, secret);
}

/** Renders 32 random bytes as an invite code. Throws RangeError for another length. */
export function renderInviteCode(secret: Uint8Array): string {
  return renderSecret(INVITE_PREFIX, secret);
}

function renderSecret(prefix: string, secret: Uint8Array): string {
  if (secret.length !== 32) throw new RangeError("a key or a code holds 32 bytes");
  const number = secret.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const body = renderBase62(number, SECRET_DIGITS);
  return `${prefix}_${body}${renderChecksum(body)}`;
}

/**
 * Whether a text can be an API key: the current form with its checksum, or the legacy prefix, which had none. False
 * means that no look-up is worth it; true says nothing about whether the key exists.
 */
export function isKeyText(text: string): boolean {
  const current = /^cof_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(text);
  if (current?.[1] !== undefined) return renderChecksum(current[1]) === current[2];
  return /^coffer_[0-9A-Za-z]{16,128}$/.test(text);
}

/** Whether a text can be an invite code; true says nothing about whether the code exists. */
export function isInviteCode(text: string): boolean {
  const parts = /^cofi_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(text);
  return parts?.[1] !== undefined && renderChecksum(parts[1]) === parts[2];
}

function renderBase62(value: bigint, width: number): string {
  let text = "";
  for (let remaining = value; text.length < width; remaining /= 62n)
    text = DIGITS.charAt(Number(remaining % 62n)) + text;
  return text;
}

function renderChecksum(body: string): string {
  let text = "";
  for (let remaining = crc32(body); text.length < CHECKSUM_DIGITS; remaining = Math.floor(remaining / 62))
    text = DIGITS.charAt(remaining % 62) + text;
  return text;
}

/** CRC-32 of ISO 3309, as in zlib; four bits at a time, because the server checks every key it is shown. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index);
    crc = (crc >>> 4) ^ (CRC_OF_NIBBLE[crc & 15] ?? 0);
    crc = (crc >>> 4) ^ (CRC_OF_NIBBLE[crc & 15] ?? 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const CRC_OF_NIBBLE: readonly number[] = Array.from({ length: 16 }, (_, nibble) => {
  let crc = nibble;
  for (let bit = 0; bit < 4; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});
