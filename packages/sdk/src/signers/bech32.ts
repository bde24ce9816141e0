/** Bech32 (BIP-173), as far as Sui's private keys need it. */

const DIGITS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECKSUM_DIGITS = 6;

export function encodeBech32(prefix: string, bytes: Uint8Array): string {
  const words = regroup(bytes, 8, 5, true) ?? [];
  const sum = checksum([...expand(prefix), ...words, ...new Array<number>(CHECKSUM_DIGITS).fill(0)]) ^ 1;
  const tail = Array.from({ length: CHECKSUM_DIGITS }, (_, index) => (sum >>> (5 * (5 - index))) & 31);
  return `${prefix}1${[...words, ...tail].map((word) => DIGITS.charAt(word)).join("")}`;
}

/** The bytes; null for another prefix, a wrong checksum, mixed case, or padding that is not zero. */
export function decodeBech32(prefix: string, text: string): Uint8Array | null {
  if (text !== text.toLowerCase() && text !== text.toUpperCase()) return null;
  const lower = text.toLowerCase();
  if (!lower.startsWith(`${prefix}1`)) return null;
  const words = Array.from(lower.slice(prefix.length + 1), (character) => DIGITS.indexOf(character));
  if (words.includes(-1) || words.length < CHECKSUM_DIGITS || checksum([...expand(prefix), ...words]) !== 1)
    return null;
  const bytes = regroup(words.slice(0, -CHECKSUM_DIGITS), 5, 8, false);
  return bytes === null ? null : Uint8Array.from(bytes);
}

function expand(prefix: string): number[] {
  const codes = Array.from(prefix, (character) => character.charCodeAt(0));
  return [...codes.map((code) => code >>> 5), 0, ...codes.map((code) => code & 31)];
}

function checksum(words: readonly number[]): number {
  let sum = 1;
  for (const word of words) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ word;
    for (const [bit, value] of GENERATOR.entries()) if ((top >>> bit) & 1) sum ^= value;
  }
  return sum >>> 0;
}

/** Bits of `from` each to bits of `to` each. The rest is padded with zeros, or must be padding already. */
function regroup(values: ArrayLike<number>, from: number, to: number, pad: boolean): number[] | null {
  const out: number[] = [];
  let [held, bits] = [0, 0];
  for (const value of Array.from(values)) {
    held = ((held << from) | value) & 0xfff;
    bits += from;
    while (bits >= to) {
      bits -= to;
      out.push((held >>> bits) & (2 ** to - 1));
    }
  }
  const rest = (held << (to - bits)) & (2 ** to - 1);
  if (pad) return bits > 0 ? [...out, rest] : out;
  return bits >= from || rest !== 0 ? null : out;
}
