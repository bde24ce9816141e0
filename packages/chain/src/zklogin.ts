/** zkLogin sign-ins end with an epoch of the chain. A signature that was good until then is refused without a reason. */
import { parseSerializedSignature, SIGNATURE_SCHEME_TO_FLAG } from "@mysten/sui/cryptography";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { fromBase64 } from "@mysten/sui/utils";
import { ChainError } from "./errors.ts";
import { REQUEST_MS } from "./node.ts";

/** Whether a serialised signature is by an ephemeral key and its proof. */
export function isZklogin(signature: string): boolean {
  return flagOf(signature) === SIGNATURE_SCHEME_TO_FLAG.ZkLogin;
}

export function isMultisig(signature: string): boolean {
  return flagOf(signature) === SIGNATURE_SCHEME_TO_FLAG.MultiSig;
}

function flagOf(signature: string): number | undefined {
  try {
    return fromBase64(signature)[0];
  } catch {
    return undefined;
  }
}

/**
 * `sign_in_ended` for a signature of a zkLogin sign-in whose last epoch is over. null for every other signature, and
 * when the node does not show its epoch.
 */
export async function findEndedSignIn(client: SuiGrpcClient, signature: string): Promise<ChainError | null> {
  const until = isZklogin(signature) ? lastEpochOf(signature) : null;
  if (until === null) return null;
  const epoch = await readEpoch(client);
  if (epoch === null || epoch <= until) return null;
  return new ChainError("sign_in_ended", {
    message: `The zkLogin sign-in was good until epoch ${until}, and the chain is in epoch ${epoch}. Sign in again; the address stays the same.`,
  });
}

function lastEpochOf(signature: string): bigint | null {
  try {
    const parsed = parseSerializedSignature(signature);
    return parsed.signatureScheme === "ZkLogin" ? BigInt(parsed.zkLogin.maxEpoch) : null;
  } catch {
    return null;
  }
}

async function readEpoch(client: SuiGrpcClient): Promise<bigint | null> {
  try {
    const { response } = await client.ledgerService.getServiceInfo({}, { abort: AbortSignal.timeout(REQUEST_MS) });
    return response.epoch ?? null;
  } catch {
    return null;
  }
}
