/** Finds the name in the plaintext of metadata. Written from file-format §9 and not with the product's own reader: it judges it. */

const SIZES = [64, 128, 256, 512];
/** A shorter name is too likely to stand somewhere by chance; tests of what the wire shows take longer ones. */
const SHORTEST = 10;
const FEWEST_DIFFERENT = 6;

/** The name's bytes; null for what is no metadata, and for a name that nobody could look for. */
export function nameIn(bytes: Uint8Array): Uint8Array | null {
  if (!SIZES.includes(bytes.length) || bytes[0] !== 1) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = 3 + view.getUint16(1);
  if (end >= bytes.length) return null;
  const after = end + 1 + view.getUint8(end) + 8;
  if (after > bytes.length || bytes.subarray(after).some((byte) => byte !== 0)) return null;
  const name = bytes.subarray(3, end);
  return name.length >= SHORTEST && new Set(name).size >= FEWEST_DIFFERENT ? name : new Uint8Array(0);
}
