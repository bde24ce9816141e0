import { openLocalnet, type Localnet } from "@coffer/localnet";
import { openDevelopmentProver } from "@coffer/server/drivers/prover/development";
import { suiZklogin } from "@coffer/server/drivers/zklogin/sui";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { isValidPersonalMessageSignature } from "@mysten/sui/verify";
import { generateNonce, generateRandomness, jwtToAddress, ZkLoginSigner } from "@mysten/sui/zklogin";
import { afterAll, beforeAll, expect, it } from "vitest";

const SALT = "129390038577185583942388216820280642146";
const MAX_EPOCH = 2;

let localnet: Localnet;
let client: SuiGrpcClient;
beforeAll(async () => {
  localnet = await openLocalnet();
  const { url } = await localnet.listen();
  client = new SuiGrpcClient({ network: "localnet", baseUrl: url });
});
afterAll(() => localnet.close());

type Proof = ConstructorParameters<typeof ZkLoginSigner>[0]["inputs"];

/** A sign-in of `subject` with a new ephemeral key, proved by the server's development prover. */
async function signIn(subject = "ada", maxEpoch = MAX_EPOCH) {
  const key = new Ed25519Keypair();
  const randomness = generateRandomness();
  const nonce = generateNonce(key.getPublicKey(), maxEpoch, randomness);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { nonce, iss: "https://issuer.example/tenant", aud: "client", sub: subject, exp: 1 };
  const idToken = `${encode({ alg: "RS256", kid: "k", typ: "JWT" })}.${encode(claims)}.c2lnbmF0dXJl`;
  const publicKey = key.getPublicKey().toSuiPublicKey();
  const inputs: Proof = await openDevelopmentProver(suiZklogin).prove({
    idToken,
    salt: SALT,
    key: { publicKey, maxEpoch, randomness },
  });
  return { key, inputs, address: jwtToAddress(idToken, SALT, false) };
}

const signerOf = (key: Ed25519Keypair, inputs: Proof, maxEpoch = MAX_EPOCH) =>
  new ZkLoginSigner({ ephemeralSigner: key, inputs, maxEpoch, legacyAddress: false, client });

function creation(): Transaction {
  const tx = new Transaction();
  const target = `${localnet.network().originalPackageId}::vault::create`;
  tx.moveCall({ target, arguments: [tx.pure.vector("u8", []), tx.pure.bool(false)] });
  return tx;
}

const create = (signer: ZkLoginSigner) => client.signAndExecuteTransaction({ transaction: creation(), signer });

it("takes transactions and personal messages of the unmodified ZkLoginSigner", async () => {
  const { key, inputs, address } = await signIn();
  const signer = signerOf(key, inputs);
  expect(signer.toSuiAddress()).toBe(address);
  expect((await create(signer)).$kind).toBe("Transaction");
  const message = new TextEncoder().encode("hello");
  const { signature } = await signer.signPersonalMessage(message);
  expect(await isValidPersonalMessageSignature(message, signature, { client, address })).toBe(true);
  const { chain } = localnet;
  expect(await chain.verifyPersonalMessage(message, signature, address)).toBe(true);
  expect(await chain.verifyPersonalMessage(message, signature, `0x${"ab".repeat(32)}`)).toBe(false);
  expect(await chain.verifyPersonalMessage(new Uint8Array([1]), signature, address)).toBe(false);
  expect(await chain.verifyPersonalMessage(message, "rubbish", address)).toBe(false);
});

it("refuses a proof for another key, epoch or person, and one that the prover did not make", async () => {
  const { key, inputs, address } = await signIn();
  const { addressSeed } = (await signIn("bob")).inputs;
  const points = inputs.proofPoints;
  const far = await signIn("ada", 1000);
  const bad = [
    signerOf(new Ed25519Keypair(), inputs),
    signerOf(key, inputs, MAX_EPOCH + 1),
    signerOf(key, { ...inputs, addressSeed }),
    signerOf(key, { ...inputs, proofPoints: { ...points, c: ["AAAA"] } }),
    signerOf(key, { ...inputs, proofPoints: { a: ["1", "2", "1"], b: [["1", "2"]], c: ["3"] } }),
    signerOf(far.key, far.inputs, 1000),
  ];
  const message = new Uint8Array([7]);
  for (const signer of bad) {
    const { signature } = await signer.signPersonalMessage(message);
    for (const claimed of [address, signer.toSuiAddress()]) {
      expect(await localnet.chain.verifyPersonalMessage(message, signature, claimed)).toBe(false);
    }
    await expect(create(signer)).rejects.toThrow(/signature/i);
  }
});

it("refuses an ephemeral key after its last epoch", async () => {
  const { key, inputs } = await signIn();
  const signer = signerOf(key, inputs);
  while (localnet.advanceEpoch() < MAX_EPOCH);
  expect((await create(signer)).$kind).toBe("Transaction");
  localnet.advanceEpoch();
  await expect(create(signer)).rejects.toThrow(/signature/i);
});
