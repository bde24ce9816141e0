/** Errors of the chain and crypto packages, in the words of this SDK. */
import { ChainError } from "@coffer/chain";
import { CryptoError, KeyDisposedError } from "@coffer/crypto";
import type { VaultErrorCode } from "../http/errors.ts";
import { sourceChanged } from "../transfer/source.ts";
import { NEXT_STEPS, vaultError } from "./vault-error.ts";

/** Any error of the chain and crypto packages, as an error of this SDK; all others pass unchanged. */
export function toVaultError(error: unknown, nextSteps: Partial<Record<VaultErrorCode, string>> = {}): unknown {
  if (error instanceof ChainError) {
    const nextStep = nextSteps[error.code] ?? NEXT_STEPS[error.code];
    return vaultError(error.code, error.message, { cause: error, nextStep });
  }
  if (error instanceof CryptoError) {
    if (error.code === "source_changed") return sourceChanged(`Nothing was stored: ${error.message}`);
    const nextStep = nextSteps[error.code];
    const what = error.step === "export" ? "export" : "file";
    return vaultError(error.code, `The ${what} cannot be trusted: ${error.message}`, {
      step: error.step,
      cause: error,
      ...(nextStep === undefined ? {} : { nextStep }),
    });
  }
  if (error instanceof KeyDisposedError)
    return vaultError("keys_forgotten", "The client's keys were forgotten while it used one", { cause: error });
  return error;
}

/** Runs `work` and throws its failures as errors of this SDK. */
export async function inVaultTerms<Result>(
  work: () => Promise<Result>,
  nextSteps?: Partial<Record<VaultErrorCode, string>>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toVaultError(error, nextSteps);
  }
}
