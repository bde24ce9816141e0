import { bcs } from "@mysten/sui/bcs";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { MultiSigPublicKey } from "@mysten/sui/multisig";
import { expect, test } from "vitest";
import { openSuiSignatures } from "./sui.ts";

const signatures = openSuiSignatures(null, { clock: { now: () => 0, elapsed: () => 0 } });
const message = new TextEncoder().encode("who signs");

/** A multisig of one, whose address names its key as `kind`; the key signs as what it is. */
async function signAlone(kind: "Secp256r1" | "Passkey") {
  const keypair = new Secp256r1Keypair();
  const pubKey = { [kind]: keypair.getPublicKey().toRawBytes() } as { Secp256r1: Uint8Array };
  const multisig_pk = { pk_map: [{ pubKey, weight: 1 }], threshold: 1 };
  const signed = Buffer.from((await keypair.signPersonalMessage(message)).signature, "base64").subarray(1, 65);
  const multisig = bcs.MultiSig.serialize({ sigs: [{ Secp256r1: signed }], bitmap: 1, multisig_pk }).toBytes();
  const signature = Buffer.concat([Uint8Array.of(3), multisig]);
  return signatures.verify({ chainAddress: new MultiSigPublicKey(multisig_pk).toSuiAddress(), message, signature });
}

test("a key in a multisig signs as the kind that the address names, as nodes of the chain demand", async () => {
  expect(await signAlone("Secp256r1")).toBe("valid");
  expect(await signAlone("Passkey")).toBe("invalid");
});
