/** The one failure of shared vaults that clients without their code throw, too. */
import { VaultError } from "../http/errors.ts";

export const ASK_WHAT_CHANGED = "Ask the vault's owner what changed; write nothing until it is clear.";

export function vaultChanged(message: string, nextStep: string = ASK_WHAT_CHANGED): VaultError {
  return new VaultError("vault_changed", message, { retryable: false, nextStep, step: null, cause: undefined });
}
