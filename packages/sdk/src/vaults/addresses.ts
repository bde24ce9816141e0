/** Chain addresses and object ids as bytes. */
import { VaultError } from "./vault-error.ts";

/** `0x` and 64 lower-case hex digits. */
export function hexOf(bytes: Uint8Array): string {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** 32 bytes of an address or object id. @throws VaultError `address_invalid`. */
export function bytesOf(address: string): Uint8Array {
  if (!/^0x[0-9a-f]{64}$/.test(address)) throw new VaultError("address_invalid", "This is no chain address");
  return Uint8Array.from(address.slice(2).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
