/** Content that leaves the account. */
import { findVault } from "@coffer/tasks";
import type { Call } from "../call.ts";

/**
 * Once text of others was shown, asks the user before content first goes into a vault of another account. The text may be what
 * asks for it. In the account's own vaults nothing leaves.
 * @throws TaskFailure `confirmation_required`, `declined`.
 */
export async function agreeToLeave(call: Call, vaultId: string): Promise<void> {
  // The user named the vault of `--vault`.
  if (!call.isTainted() || call.pinnedVault === vaultId || call.agreedVaults.has(vaultId)) return;
  const { id, role } = await findVault(call, vaultId);
  if (role === "owner") return;
  await call.confirm({
    preview: `Write into the vault ${id.slice(0, 8)}, which belongs to another account`,
    state: id,
    stateNow: () => Promise.resolve(id),
    token: undefined,
    isFinal: true,
  });
  call.agreedVaults.add(id);
}
