/** `sui.rpc.v2.SignatureVerificationService`: what the SDK asks for zkLogin, whose proofs it cannot verify itself. */
import { toBase64 } from "@mysten/bcs";
import { bcs } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { isPersonalMessageBy, isTransactionBy } from "../chain/signatures.ts";
import { RpcFailure } from "./grpc-web.ts";
import { type Methods, method } from "./method.ts";
import { readAddress } from "./transaction-messages.ts";

const T = GrpcTypes;

export const SIGNATURE_SERVICE: Methods = {
  VerifySignature: method(T.VerifySignatureRequest, T.VerifySignatureResponse, async ({ view }, request) => {
    const { message, signature, address } = request;
    const [value, bytes] = [message?.value, signature?.bcs?.value];
    if (value === undefined || bytes === undefined) {
      throw new RpcFailure("INVALID_ARGUMENT", "a message and a signature in BCS are needed");
    }
    const by = readAddress(address);
    const isValid =
      message?.name === "PersonalMessage"
        ? await isPersonalMessageBy(readPersonalMessage(value), toBase64(bytes), by, view.epoch)
        : await isTransactionBy(value, toBase64(bytes), by, view.epoch);
    return isValid
      ? { isValid }
      : { isValid, reason: "the signature is not valid for this message, address and epoch" };
  }),
};

function readPersonalMessage(value: Uint8Array): Uint8Array {
  try {
    return Uint8Array.from(bcs.byteVector().parse(value));
  } catch {
    throw new RpcFailure("INVALID_ARGUMENT", "the message is no vector of bytes");
  }
}
