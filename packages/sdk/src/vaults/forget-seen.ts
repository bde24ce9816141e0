/** Giving up what was seen of a vault: what a user decides when the service was honestly restored from a backup. */
import type { CallOptions } from "../call.ts";
import type { Connection } from "../options.ts";
import { requireOpenVault } from "./vault-session.ts";

export interface ForgetSeenOptions extends CallOptions {
  /** A file's or folder's id; absent: everything of the vault. */
  readonly id?: string | undefined;
}

/**
 * From now on the service's state counts as the newest, wherever it is not below the vault's floor. What the chain said of the vault is not
 * forgotten: its object, its owner, its generation.
 */
export async function forgetSeen(
  connection: Connection,
  vaultId: string,
  { id, ...options }: ForgetSeenOptions = {},
): Promise<void> {
  const vault = await requireOpenVault(connection, vaultId, options);
  await vault.seen.forget(id ?? null);
}
