/** Chain addresses and object ids as bytes. */
import { toHex } from "../transfer/digest.ts";
import { vaultError } from "./vault-error.ts";

/** `0x` and 64 lower-case hex digits. */
export function hexOf(bytes: Uint8Array): string {
  return `0x${toHex(bytes)}`;
}

/**
 * 32 bytes of an address or object id.
 * @throws VaultError `address_invalid`.
 */
export function bytesOf(address: string): Uint8Array {
  if (!/^0x[0-9a-f]{64}$/.test(address)) throw vaultError("address_invalid", "This is no chain address");
  const bytes = new Uint8Array(32);
  for (let at = 0; at < 32; at += 1) bytes[at] = Number.parseInt(address.slice(2 + 2 * at, 4 + 2 * at), 16);
  return bytes;
}
