/** An item that was read for a change, while others on this machine may change it. */
import { VaultError } from "../../http/errors.ts";
import { toVaultError } from "../vault-terms.ts";
import type { SharedItem } from "./entries.ts";

/**
 * Gives `open` the item as the service showed it. If that is older than what this machine has seen meanwhile, somebody here may have
 * changed it while the answer was on its way: `readAgain` reads it once more, and the newer state is opened in its place.
 *
 * @throws What `open` throws; VaultError `rolled_back` if the service shows the same state again.
 */
export async function openLatest<I extends SharedItem, Opened>(
  item: I,
  readAgain: () => Promise<I>,
  open: (item: I) => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open(item);
  } catch (error) {
    const failure = toVaultError(error);
    if (!(failure instanceof VaultError) || failure.code !== "rolled_back") throw error;
    const latest = await readAgain();
    if (stateOf(latest) === stateOf(item)) throw error;
    return await open(latest);
  }
}

function stateOf({ shared }: SharedItem): string {
  if (shared === null) return "";
  return "version" in shared ? `${shared.entry} ${String(shared.version)}` : shared.entry;
}
