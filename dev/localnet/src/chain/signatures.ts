/** The signer: every scheme of the SDK, verified by the SDK, and zkLogin by the development prover's attestation. */
import { fromBase64, toBase64 } from "@mysten/bcs";
import { bcs } from "@mysten/sui/bcs";
import type { ClientWithCoreApi } from "@mysten/sui/client";
import { RefusedError } from "./failures.ts";
import type { TransactionForm } from "./transaction-form.ts";
import { zkloginProblem } from "./zklogin.ts";

/** Largest serialised signature that is looked at: a multisig of ten zkLogin signatures. */
const MAX_SIGNATURE_BYTES = 64 * 1024;

/** @throws RefusedError unless sender and gas owner signed, and nobody else did. */
export async function checkSignatures(
  form: TransactionForm,
  transaction: Uint8Array,
  signatures: readonly Uint8Array[],
  epoch: number,
): Promise<void> {
  const wanted = new Set([form.sender, form.gas.owner]);
  if (signatures.length !== wanted.size) {
    throw new RefusedError(`Expected ${wanted.size} signatures, of the sender and who pays, not ${signatures.length}`);
  }
  const signers = await Promise.all(signatures.map((signature) => signerOf(transaction, signature, epoch)));
  for (const address of wanted) {
    if (!signers.includes(address)) {
      throw new RefusedError(
        `Invalid user signature: ${address} did not sign; the signatures are by ${signers.join(", ")}`,
      );
    }
  }
}

async function signerOf(transaction: Uint8Array, signature: Uint8Array, epoch: number): Promise<string> {
  if (signature.length > MAX_SIGNATURE_BYTES) throw new RefusedError("Invalid user signature: it is too long");
  const { verifyTransactionSignature } = await import("@mysten/sui/verify");
  try {
    const key = await verifyTransactionSignature(transaction, toBase64(signature), { client: zkloginClient(epoch) });
    return key.toSuiAddress();
  } catch (error) {
    throw new RefusedError(`Invalid user signature: ${error instanceof Error ? error.message : "unreadable"}`);
  }
}

/** Whether an address signed a personal message. False for anything malformed. */
export async function isPersonalMessageBy(message: Uint8Array, signature: string, address: string, epoch: number) {
  const { isValidPersonalMessageSignature } = await import("@mysten/sui/verify");
  return isSigned(() => isValidPersonalMessageSignature(message, signature, { client: zkloginClient(epoch), address }));
}

/** Whether an address signed a transaction. False for anything malformed. */
export async function isTransactionBy(transaction: Uint8Array, signature: string, address: string, epoch: number) {
  const { isValidTransactionSignature } = await import("@mysten/sui/verify");
  return isSigned(() => isValidTransactionSignature(transaction, signature, { client: zkloginClient(epoch), address }));
}

async function isSigned(verify: () => Promise<boolean>): Promise<boolean> {
  try {
    return await verify();
  } catch {
    return false;
  }
}

/** The one call that the SDK's verification makes: zkLogin, also inside of a multisig. It comes back to this chain. */
function zkloginClient(epoch: number): ClientWithCoreApi {
  const core = {
    verifyZkLoginSignature: async (options: {
      bytes: string;
      signature: string;
      intentScope: "TransactionData" | "PersonalMessage";
      address: string;
    }) => {
      const bytes = fromBase64(options.bytes);
      const problem = await zkloginProblem({
        message: options.intentScope === "PersonalMessage" ? bcs.byteVector().serialize(bytes).toBytes() : bytes,
        scope: options.intentScope,
        signature: fromBase64(options.signature),
        address: options.address,
        epoch,
      });
      return { success: problem === null, errors: problem === null ? [] : [problem] };
    },
  };
  return { core } as unknown as ClientWithCoreApi;
}
