/** The code of shared vaults needs `@coffer/chain`, which a program may not have installed. */
import { configurationError } from "../http/errors.ts";
import type * as Code from "../shared-vaults/code.ts";

/** @throws SdkError `configuration` if `@coffer/chain` is not installed. */
export function loadCode(): Promise<typeof Code> {
  return requireChain(import("../shared-vaults/code.ts"));
}

/** Names the missing package, instead of the runtime's words about a module inside the SDK. */
export async function requireChain<Module>(loading: Promise<Module>): Promise<Module> {
  try {
    return await loading;
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw configurationError("Shared vaults need the package @coffer/chain: install it from where you got @coffer/sdk");
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" && String(message).includes("'@coffer/chain");
}
