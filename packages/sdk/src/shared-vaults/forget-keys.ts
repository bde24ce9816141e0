/** Overwriting the keys that a client holds, without loading the code of shared vaults. */
import { connectionOf, type Client } from "../client.ts";
import { keyHolderOf } from "../connection/key-holder.ts";

/**
 * Overwrites every vault key that the client holds, and drops its session with the key servers: at sign-out, when a
 * machine is locked, or when the service refuses the client's key. Calls that are under way and need a key fail with
 * `keys_forgotten`; nothing of theirs is stored under anything but the true key. The client stays usable: calls that
 * begin afterwards ask the key servers again. It does not touch the signer, which is the caller's.
 *
 * What it cannot overwrite: plaintext, the signer's key, and the ciphers of files that are being read or sent.
 *
 * @example
 * ```ts
 * process.on("SIGTERM", () => forgetKeys(client));
 * ```
 */
export function forgetKeys(client: Client): void {
  keyHolderOf(connectionOf(client))?.forgetKeys();
}
