/** The text that Sui's tools write of a private key (SIP-15): bech32 (BIP 173) over the scheme's flag and the seed. */

const PREFIX = "suiprivkey";
/** Of Ed25519. */
const FLAG = 0;
const DIGITS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** `suiprivkey1…` of the 32 bytes of an Ed25519 seed. */
export function suiPrivateKeyText(seed: Uint8Array): string {
  const words = toWords([FLAG, ...seed]);
  const prefix = [...PREFIX].map((letter) => letter.charCodeAt(0));
  const expanded = [...prefix.map((code) => code >> 5), 0, ...prefix.map((code) => code & 31)];
  const sum = checksum([...expanded, ...words, 0, 0, 0, 0, 0, 0]) ^ 1;
  const check = [25, 20, 15, 10, 5, 0].map((shift) => (sum >> shift) & 31);
  return `${PREFIX}1${[...words, ...check].map((word) => DIGITS[word] ?? "").join("")}`;
}

/** Eight bits each to five bits each, zeros at the end. */
function toWords(bytes: readonly number[]): number[] {
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((word) => Number.parseInt(word.padEnd(5, "0"), 2));
}

function checksum(words: readonly number[]): number {
  return words.reduce((sum, word) => {
    const top = sum >>> 25;
    const next = ((sum & 0x1ffffff) << 5) ^ word;
    return GENERATOR.reduce((mixed, term, bit) => (((top >> bit) & 1) === 1 ? mixed ^ term : mixed), next);
  }, 1);
}
