/**
 * The rest of the SDK reaches the code of shared vaults only through a client's `sharedVaults`, so that no bundle
 * holds it by accident.
 */
import type * as Code from "../shared-vaults/code.ts";
import { VaultError } from "../http/errors.ts";
import { HOW_TO_OPEN } from "./how-to-open.ts";
import type { Connection } from "./options.ts";

/** Everything that shared vaults need. It needs `@coffer/chain`. */
export type SharedCode = typeof Code;

/**
 * The code, which is loaded with the first use.
 * @throws VaultError `shared_vault` for a client without `sharedVaults`.
 * @throws SdkError `configuration` if `@coffer/chain` is not installed.
 */
export async function sharedCode({ sharedVaults }: Pick<Connection, "sharedVaults">): Promise<SharedCode> {
  // `options.ts` cannot name the type: the modules of the code import the options.
  if (sharedVaults !== null) return (await sharedVaults.code()) as SharedCode;
  throw new VaultError("shared_vault", "This client has no chain key and no network, which shared vaults need", {
    retryable: false,
    nextStep: HOW_TO_OPEN,
    step: null,
    cause: undefined,
  });
}

/** The code for clients that can open shared vaults; null for the others. */
export async function sharedCodeOrNull(connection: Pick<Connection, "sharedVaults">): Promise<SharedCode | null> {
  return connection.sharedVaults === null ? null : sharedCode(connection);
}
