/** Signatures of schemes that the fake does not know by itself: it says so, or checks them by what it was given. */
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { verifyPersonalMessageSignature } from "@mysten/sui/verify";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Client, Signer } from "../index.ts";
import { openService } from "../test-service.ts";
import { createFake, type VerifySignature } from "./index.ts";

function signerOf(keypair: Secp256k1Keypair): Signer {
  return {
    chainAddress: keypair.toSuiAddress(),
    signPersonalMessage: async (bytes) => (await keypair.signPersonalMessage(bytes)).signature,
  };
}

/** As the documentation says it. */
const verifySignature: VerifySignature = (address, message, signature) =>
  verifyPersonalMessageSignature(message, signature, { address }).then(
    () => true,
    () => false,
  );

const open = (verify?: VerifySignature) =>
  openService(createFake(verify === undefined ? {} : { verifySignature: verify }));

/** Every way in which an address is proven. */
function proofs({ client, visitor }: { readonly client: Client; readonly visitor: Client }, signer: Signer) {
  return {
    "a key": () => client.apiKeys.create({ name: "wallet", signer }),
    "an invite": async () => visitor.invites.redeem((await client.invites.create({ name: "wallet" })).text, signer),
    "the account": () => client.account.linkChain(signer),
  };
}

describe("a wallet's signature", () => {
  let signer: Signer;
  beforeEach(() => {
    signer = signerOf(Secp256k1Keypair.generate());
  });

  it("is not called wrong by a fake that cannot check it: it says what to give it", async () => {
    for (const [what, prove] of Object.entries(proofs(await open(), signer)))
      await expect(prove(), what).rejects.toMatchObject({
        code: "not_configured",
        message: expect.stringContaining("give createFake a verifySignature") as unknown,
      });
  });

  it("proves its address where the fake was given what checks it", async () => {
    for (const what of ["a key", "an invite", "the account"] as const) {
      const proven = await proofs(await open(verifySignature), signer)[what]();
      expect(proven, what).toMatchObject({ chainAddress: signer.chainAddress });
    }
  });

  it("of another address proves nothing", async () => {
    const impostor = { ...signer, chainAddress: signerOf(Secp256k1Keypair.generate()).chainAddress };
    for (const [what, prove] of Object.entries(proofs(await open(verifySignature), impostor)))
      await expect(prove(), what).rejects.toMatchObject({ code: "signature_invalid" });
  });

  it("is not asked about where the scheme is Ed25519 or none of Sui's", async () => {
    const verify = vi.fn(() => true);
    for (const scheme of [0, 4, 7, 255]) {
      const signature = Buffer.from([scheme, ...new Uint8Array(96)]).toString("base64");
      const forged: Signer = { ...signer, signPersonalMessage: () => Promise.resolve(signature) };
      const { client } = await open(verify);
      await expect(client.account.linkChain(forged)).rejects.toMatchObject({ code: "signature_invalid" });
    }
    expect(verify).not.toHaveBeenCalled();
  });
});
