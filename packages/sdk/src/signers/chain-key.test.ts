import { decodeSuiPrivateKey } from "@mysten/sui/cryptography";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import fc from "fast-check";
import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { chainKeySigner, generateChainKey } from "./chain-key.ts";
import { verifyPersonalMessage } from "./ed25519.ts";
import { serviceIdentity } from "./signer.ts";

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 500 : 20;

afterEach(() => vi.restoreAllMocks());

describe("a chain key", () => {
  it.each(["Node's", "a portable"])("with %s Ed25519: the address and signatures of @mysten/sui", async (whose) => {
    if (whose === "a portable") vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    await fc.assert(
      fc.asyncProperty(seed, fc.uint8Array({ maxLength: 300 }), async (bytes, message) => {
        const theirs = Ed25519Keypair.fromSecretKey(bytes);
        const ours = await chainKeySigner(bytes);
        expect(ours.chainAddress).toBe(theirs.toSuiAddress());
        const signature = await ours.signPersonalMessage(message);
        expect(signature).toBe((await theirs.signPersonalMessage(message)).signature);
        expect(await ours.signTransaction?.(message)).toBe((await theirs.signTransaction(message)).signature);
        expect(verifyPersonalMessage(ours.chainAddress, message, signature)).toBe(true);
        expect(verifyPersonalMessage(ours.chainAddress, Uint8Array.of(...message, 0), signature)).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  it("is read and written as Sui's tools do", async () => {
    const { privateKey, chainAddress } = await generateChainKey();
    const { scheme, secretKey } = decodeSuiPrivateKey(privateKey.reveal());
    expect([scheme, Ed25519Keypair.fromSecretKey(secretKey).toSuiAddress()]).toEqual(["ED25519", chainAddress]);
    const text = Ed25519Keypair.fromSecretKey(secretKey).getSecretKey();
    expect(text).toBe(privateKey.reveal());
    for (const key of [text, text.toUpperCase(), ` ${text}\n`, privateKey, secretKey])
      expect((await chainKeySigner(key)).chainAddress).toBe(chainAddress);
  });

  it("is refused when a character is wrong, when it is too short, and when it is of another scheme", async () => {
    const { privateKey } = await generateChainKey();
    const text = privateKey.reveal();
    const typo = `${text.slice(0, 20)}${text[20] === "q" ? "p" : "q"}${text.slice(21)}`;
    for (const key of [typo, text.slice(0, -1), "suiprivkey1", "", new Uint8Array(31), `Sui${text.slice(3)}`]) {
      const error: unknown = await chainKeySigner(key).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "configuration" });
      expect(inspect(error)).not.toContain(text.slice(12, 40));
    }
  });

  it("never shows in what logs the signer", async () => {
    const { privateKey, chainAddress } = await generateChainKey();
    const signer = await chainKeySigner(privateKey);
    const shown = `${inspect(signer, { showHidden: true, depth: 9 })} ${JSON.stringify({ signer, privateKey })}`;
    expect(shown).toContain(chainAddress);
    expect(shown).not.toContain(privateKey.reveal());
  });
});

it("strictly verifies: another address, another encoding and foreign bytes are refused", async () => {
  const message = new TextEncoder().encode("text");
  const [mine, other] = await Promise.all([
    chainKeySigner(new Uint8Array(32)),
    chainKeySigner(new Uint8Array(32).fill(1)),
  ]);
  const signature = await mine.signPersonalMessage(message);
  expect(verifyPersonalMessage(other.chainAddress, message, signature)).toBe(false);
  for (const bad of ["", "AA==", "%%%", signature.slice(4), `AQ${signature.slice(2)}`, `${signature} `])
    expect(verifyPersonalMessage(mine.chainAddress, message, bad)).toBe(false);
});

it("takes services of this machine to be on a local chain", () => {
  for (const local of ["http://127.0.0.1:8787", "http://localhost:1", "http://[::1]:2", "http://app.localhost"])
    expect(serviceIdentity(local).network).toBe("localnet");
  for (const remote of ["https://coffer.example", "http://127.example", "https://localhost.example"])
    expect(serviceIdentity(remote).network).toBe("mainnet");
  expect(serviceIdentity("https://h.example:8443/prefix", "testnet")).toEqual({
    origin: "https://h.example:8443",
    network: "testnet",
  });
});
