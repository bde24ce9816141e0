/** Forgetting what was seen of a vault: a user decides it when the service was restored from a backup, or a chain node lied. */
import type { Connection, CallOptions } from "../../connection/options.ts";
import { forgetNumbers } from "./seen-numbers.ts";
import { vaultRegistry } from "../client-vaults.ts";

/** For forgetting what was seen. */
export interface ForgetSeenOptions extends CallOptions {
  /** A file's or folder's id. Default: everything of the vault, and what the chain's node has shown of it. */
  readonly id?: string | undefined;
}

/**
 * From now on the service's state counts as the newest, wherever it is not below the vault's floor. Without `id`, so
 * do the generation and the floor that the chain's node shows. The pin stays: the vault's object, its owner, its
 * network. For a public vault it forgets which files and folders its callers have named there.
 */
export async function forgetSeen(
  connection: Connection,
  vaultId: string,
  { id, ...options }: ForgetSeenOptions = {},
): Promise<void> {
  const registry = vaultRegistry(connection);
  // Not opened: a false number may be the reason why it does not open.
  const pin = await registry.pin(vaultId, options);
  if (id === undefined) {
    if (pin.chainObjectId !== null) await forgetNumbers(registry, pin.chainObjectId);
    registry.forget();
  }
  await registry.homes.forget(pin, id ?? null);
}
