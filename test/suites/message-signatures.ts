/** What every driver of the port for signatures must do. */
import type { TransactionSigner } from "@coffer/chain";
import type { MessageSignatures } from "@coffer/server/ports/message-signatures";
import { parseSerializedSignature, type Signer } from "@mysten/sui/cryptography";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { PasskeyKeypair } from "@mysten/sui/keypairs/passkey";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { MultiSigPublicKey, MultiSigSigner } from "@mysten/sui/multisig";
import { fromBase64 } from "@mysten/sui/utils";
import { publicKeyFromRawBytes } from "@mysten/sui/verify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { virtualPasskey } from "../kit/virtual-passkey.ts";

export interface SignaturesMedium extends AsyncDisposable {
  readonly signatures: MessageSignatures;
  /** The same without a node. */
  readonly alone: MessageSignatures;
  /** Whose sign-in is good until this epoch; the node begins at 0. */
  zklogin(subject: string, maxEpoch: number): TransactionSigner;
  readonly node: { down: boolean; stale: boolean; advanceEpoch(): number };
  /** Makes a node that stands still too old to be believed. */
  advance(milliseconds: number): void;
}

const MESSAGE = new TextEncoder().encode("Coffer link address v1\nand more");

type Person = Pick<TransactionSigner, "chainAddress" | "signPersonalMessage">;

const personOf = (signer: Signer): Person => ({
  chainAddress: signer.toSuiAddress(),
  signPersonalMessage: async (bytes) => (await signer.signPersonalMessage(bytes)).signature,
});

function multisig(weights: readonly number[], threshold: number): Signer {
  const signers = [new Ed25519Keypair(), new Secp256k1Keypair(), new Secp256r1Keypair()] as const;
  const publicKeys = signers.map((each, at) => ({ publicKey: each.getPublicKey(), weight: weights[at] ?? 1 }));
  return new MultiSigSigner(MultiSigPublicKey.fromPublicKeys({ threshold, publicKeys }), [signers[1], signers[2]]);
}

/** Signed by one, who says that it is of two. */
async function tooFew(): Promise<{ chainAddress: string; signature: Uint8Array }> {
  const signers = [new Ed25519Keypair(), new Secp256k1Keypair()] as const;
  const publicKeys = signers.map((each) => ({ publicKey: each.getPublicKey(), weight: 1 }));
  const key = MultiSigPublicKey.fromPublicKeys({ threshold: 2, publicKeys });
  const { signature } = await signers[1].signPersonalMessage(MESSAGE);
  return { chainAddress: key.toSuiAddress(), signature: fromBase64(key.combinePartialSignatures([signature])) };
}

const offline: readonly [string, () => Promise<Person>][] = [
  ["secp256k1", () => Promise.resolve(personOf(new Secp256k1Keypair()))],
  ["secp256r1", () => Promise.resolve(personOf(new Secp256r1Keypair()))],
  ["multisig", () => Promise.resolve(personOf(multisig([1, 1, 1], 2)))],
  ["a passkey", async () => personOf(await PasskeyKeypair.getPasskeyInstance(virtualPasskey()))],
];

export function describeMessageSignatures(name: string, open: () => Promise<SignaturesMedium>): void {
  let medium: SignaturesMedium;
  beforeAll(async () => {
    medium = await open();
  });
  afterAll(() => medium[Symbol.asyncDispose]());

  async function verdictOn(
    person: Person,
    more: { chainAddress?: string; message?: Uint8Array; signature?: Uint8Array; by?: MessageSignatures } = {},
  ) {
    const { chainAddress = person.chainAddress, message = MESSAGE, by = medium.signatures } = more;
    const signature = more.signature ?? fromBase64(await person.signPersonalMessage(MESSAGE));
    return by.verify({ chainAddress, message, signature });
  }

  describe.each(offline)(`message signatures of ${name}: %s`, (_scheme, make) => {
    it("holds for its address and text alone, and needs no node", async () => {
      const [person, other] = await Promise.all([make(), make()]);
      for (const by of [medium.signatures, medium.alone]) {
        expect(await verdictOn(person, { by })).toBe("valid");
        expect(await verdictOn(person, { by, chainAddress: other.chainAddress })).toBe("other_address");
        expect(await verdictOn(person, { by, message: new Uint8Array([1]) })).toBe("invalid");
      }
    });

    it("does not hold once a byte of it is changed, or it is cut off", async () => {
      const person = await make();
      const signature = fromBase64(await person.signPersonalMessage(MESSAGE));
      const step = process.env["COFFER_TEST_COUNTS"] === "full" ? 1 : Math.ceil(signature.length / 12);
      for (let at = 1; at < signature.length; at += step) {
        const [changed, cut] = [Uint8Array.from(signature), signature.subarray(0, at)];
        changed[at] = (changed[at] ?? 0) ^ 1;
        for (const broken of [changed, cut])
          expect([at, await verdictOn(person, { signature: broken })]).not.toEqual([at, "valid"]);
      }
    });
  });

  describe(`message signatures of ${name}`, () => {
    it("does not take Ed25519, unknown schemes or nothing at all", async () => {
      const person = personOf(new Ed25519Keypair());
      expect(await verdictOn(person)).toBe("unsupported");
      for (const signature of [[], [4, 1], [7], [255, ...new Uint8Array(97)]])
        expect(await verdictOn(person, { signature: Uint8Array.from(signature) })).toBe("unsupported");
    });

    it("answers, and does not fail, for a scheme's flag before anything else", async () => {
      const person = personOf(new Secp256k1Keypair());
      for (const flag of [1, 2, 3, 5, 6])
        for (const rest of [[], [1], [0xff, 0xff, 0xff, 0xff, 0x0f], new Array<number>(8192).fill(0x80)]) {
          const verdict = await verdictOn(person, { signature: Uint8Array.of(flag, ...rest) });
          expect(["invalid", "other_address"]).toContain(verdict);
        }
    });

    it("holds a multisig to its threshold", async () => {
      expect(await medium.signatures.verify({ message: MESSAGE, ...(await tooFew()) })).toBe("invalid");
    });

    it("does not take zkLogin inside a multisig, and takes the multisig where its other keys sign", async () => {
      const user = medium.zklogin("ada", 2);
      const message = MESSAGE;
      const partial = await user.signPersonalMessage(message);
      const parsed = parseSerializedSignature(partial);
      if (parsed.signatureScheme !== "ZkLogin") throw new Error("not a zkLogin signature");
      const wallet = new Secp256k1Keypair();
      const keys = [publicKeyFromRawBytes("ZkLogin", parsed.publicKey), wallet.getPublicKey()];
      const key = MultiSigPublicKey.fromPublicKeys({
        threshold: 1,
        publicKeys: keys.map((publicKey) => ({ publicKey, weight: 1 })),
      });
      const verdictOf = (own: string) => {
        const signature = fromBase64(key.combinePartialSignatures([own]));
        return medium.signatures.verify({ chainAddress: key.toSuiAddress(), message, signature });
      };
      expect(await verdictOf(partial)).toBe("unsupported");
      expect(await verdictOf((await wallet.signPersonalMessage(message)).signature)).toBe("valid");
    });

    it("takes no multisig with a key of small order, for which one signature fits every text", async () => {
      const weak = Uint8Array.of(1, ...new Uint8Array(31));
      const key = { threshold: 1, pk_map: [{ pubKey: { ED25519: [...weak] }, weight: 1 }] };
      const { bcs } = await import("@mysten/sui/bcs");
      const forged = [1, ...new Uint8Array(63)];
      const sigs = [{ ED25519: forged }];
      const signature = bcs.MultiSig.serialize({ sigs, bitmap: 1, multisig_pk: key }).toBytes();
      const chainAddress = new MultiSigPublicKey(bcs.MultiSigPublicKey.serialize(key).toBytes()).toSuiAddress();
      const claim = { chainAddress, message: MESSAGE, signature: Uint8Array.of(3, ...signature) };
      expect(await medium.signatures.verify(claim)).toBe("invalid");
    });
  });

  describe(`message signatures of ${name}: zkLogin`, () => {
    it("asks the node, which knows the proof, and refuses another address before it asks", async () => {
      const [person, other] = [medium.zklogin("ada", 2), medium.zklogin("bob", 2)];
      expect(await verdictOn(person)).toBe("valid");
      expect(await verdictOn(person, { message: new Uint8Array([1]) })).toBe("invalid");
      medium.node.down = true;
      expect(await verdictOn(person, { chainAddress: other.chainAddress })).toBe("other_address");
      expect(await verdictOn(person, { by: medium.alone })).toBe("unsupported");
      expect([medium.signatures, medium.alone].map((each) => each.capabilities.zklogin)).toEqual([true, false]);
      await expect(verdictOn(person)).rejects.toMatchObject({ name: "ChainUnavailableError" });
      medium.node.down = false;
      expect(await verdictOn(person)).toBe("valid");
    });

    it("believes no node that is behind, which may not know that a sign-in has ended", async () => {
      const person = medium.zklogin("ada", 2);
      medium.node.stale = true;
      medium.advance(31_000);
      await expect(verdictOn(person)).rejects.toMatchObject({ name: "ChainUnavailableError" });
      medium.node.stale = false;
      expect(await verdictOn(person)).toBe("valid");
    });

    it("says of a sign-in that has ended that it has", async () => {
      const person = medium.zklogin("ada", 2);
      while (medium.node.advanceEpoch() < 2);
      expect(await verdictOn(person)).toBe("valid");
      medium.node.advanceEpoch();
      expect(await verdictOn(person)).toBe("expired");
      expect(await verdictOn(medium.zklogin("ada", 9))).toBe("valid");
    });
  });
}
