/** Acts that a shared vault's owner proves: the service asks for the proof, and this makes it. */
import { ApiError } from "../http/errors.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import type { Deleted } from "../shared-vaults/deletion-proof.ts";

/** Sends the call, and again with a proof if the service asks for one and this client holds a chain key. */
export async function withOwnerProof<Result>(
  connection: Connection,
  deleted: Deleted,
  send: (headers: { readonly "coffer-proof"?: string }) => Promise<Result>,
  options?: CallOptions,
): Promise<Result> {
  try {
    return await send({});
  } catch (error) {
    if (!isRefusal(error, "owner_proof_required") || connection.sharedVaults === null) throw error;
  }
  const { proveDeletion } = await sharedCode(connection);
  try {
    return await send(await proveDeletion(connection, deleted, options));
  } catch (error) {
    // The first of two attempts, whose answer was lost, has used the nonce up.
    if (!isRefusal(error, "token_invalid")) throw error;
    return send(await proveDeletion(connection, deleted, options));
  }
}

function isRefusal(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}
