/** What every driver of the prover port must do. */
import type { Prover } from "@coffer/server/ports/zklogin";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import {
  genAddressSeed,
  generateNonce,
  generateRandomness,
  getZkLoginSignature,
  parseZkLoginSignature,
} from "@mysten/sui/zklogin";
import { describe, expect, it } from "vitest";

export const CLAIMS = { iss: "https://issuer.example/tenant", aud: "client", sub: "ada" } as const;
export const SALT = "129390038577185583942388216820280642146";

/** What a client has after a sign-in: a key, and a token that carries the key's nonce. Nobody checks its signature here. */
export function makeRequest(more: { readonly nonce?: string; readonly claims?: object } = {}) {
  const publicKey = new Ed25519Keypair().getPublicKey();
  const key = { publicKey: publicKey.toSuiPublicKey(), maxEpoch: 7, randomness: generateRandomness() };
  const nonce = more.nonce ?? generateNonce(publicKey, key.maxEpoch, key.randomness);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const header = encode({ alg: "RS256", kid: "k", typ: "JWT" });
  const idToken = `${header}.${encode({ nonce, ...CLAIMS, exp: 1, ...more.claims })}.c2lnbmF0dXJl`;
  return { idToken, key, salt: SALT };
}

export function describeProver(name: string, open: () => Prover): void {
  describe(`prover: ${name}`, () => {
    it("answers with the inputs of a zkLogin signature, for the subject's own seed", async () => {
      const request = makeRequest();
      const proof = await open().prove(request);
      expect(proof.addressSeed).toBe(String(genAddressSeed(SALT, "sub", CLAIMS.sub, CLAIMS.aud)));
      expect(proof.headerBase64).toBe(request.idToken.split(".")[0]);
      // The library reads the issuer back out of the proof.
      const signature = getZkLoginSignature({ inputs: proof, maxEpoch: 7, userSignature: new Uint8Array(97) });
      const parsed = parseZkLoginSignature(Buffer.from(signature, "base64").subarray(1));
      expect(parsed.inputs).toMatchObject({ addressSeed: proof.addressSeed });
    });

    it("accepts its own proof", async () => {
      const prover = open();
      const request = makeRequest();
      expect(await prover.check(await prover.prove(request), request)).toBe(true);
    });

    it("refuses tokens that zkLogin cannot read, without naming them", async () => {
      const prover = open();
      const bad = [
        makeRequest({ claims: { aud: ["client", "another"] } }),
        makeRequest({ claims: { sub: undefined } }),
        makeRequest({ claims: { iss: undefined } }),
        { ...makeRequest(), idToken: "rubbish-that-is-no-token" },
      ];
      for (const request of bad) {
        const error = await prover.prove(request).then(
          () => null,
          (reason: unknown) => reason as Error,
        );
        expect(error).toMatchObject({ name: "ProverRefusedError" });
        expect(error?.message).not.toContain(request.idToken);
      }
    });
  });
}
