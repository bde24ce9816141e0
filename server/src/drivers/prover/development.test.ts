import { computeZkLoginAddressFromSeed, ZkLoginPublicIdentifier } from "@mysten/sui/zklogin";
import { describe, expect, it } from "vitest";
import { CLAIMS, describeProver, makeRequest, SALT } from "../../../../test/suites/prover.ts";
import { suiZklogin } from "../zklogin/sui.ts";
import { openDevelopmentProver } from "./development.ts";

describeProver("development", () => openDevelopmentProver(suiZklogin));

describe("the development prover [S5.5-prover-development]", () => {
  const prover = openDevelopmentProver(suiZklogin);

  it("says that it proves nothing elsewhere", async () => {
    const { proofPoints } = await prover.prove(makeRequest());
    expect(proofPoints.a).toEqual(["coffer development prover 1"]);
    expect(proofPoints.b).toEqual([["proves nothing outside localnet"]]);
  });

  it("shows the issuer so that the library finds the address in the proof, wherever the claim stands", async () => {
    for (const nonce of [undefined, "", "a", "ab", "abc"]) {
      const request = makeRequest();
      const claims = { padding: nonce, ...CLAIMS };
      const [header = "", payload = ""] = request.idToken.split(".");
      const { nonce: own } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { nonce: string };
      for (const order of [
        { ...claims, nonce: own },
        { nonce: own, ...claims },
        { nonce: own, aud: CLAIMS.aud, sub: CLAIMS.sub, padding: nonce, iss: CLAIMS.iss },
      ]) {
        const body = Buffer.from(JSON.stringify(order)).toString("base64url");
        const proof = await prover.prove({ ...request, idToken: `${header}.${body}.x` });
        const address = computeZkLoginAddressFromSeed(BigInt(proof.addressSeed), CLAIMS.iss, false);
        expect(ZkLoginPublicIdentifier.fromProof(address, proof).toSuiAddress()).toBe(address);
        expect(address).toBe(
          await suiZklogin.addressOf({ issuer: CLAIMS.iss, audience: CLAIMS.aud, subject: CLAIMS.sub, salt: SALT }),
        );
      }
    }
  });

  it("refuses a token whose nonce is not the key's", async () => {
    const other = makeRequest();
    await expect(prover.prove({ ...makeRequest(), key: other.key })).rejects.toThrow(/nonce/);
    await expect(prover.prove(makeRequest({ nonce: "A".repeat(27) }))).rejects.toMatchObject({
      name: "ProverRefusedError",
    });
  });

  it("recognises a proof that is not of this key, epoch, salt, token or prover [Z5]", async () => {
    const request = makeRequest();
    const proof = await prover.prove(request);
    const elsewhere = makeRequest();
    expect(await prover.check(proof, elsewhere)).toBe(false);
    expect(await prover.check(proof, { ...request, salt: "1" })).toBe(false);
    expect(await prover.check(proof, { ...request, key: { ...request.key, randomness: "1" } })).toBe(false);
    expect(await prover.check(proof, { ...request, key: { ...request.key, maxEpoch: 8 } })).toBe(false);
    const { proofPoints, issBase64Details } = proof;
    const [attestation = ""] = proofPoints.c;
    const forged = Buffer.from(attestation, "base64url");
    forged[0] = (forged[0] ?? 0) ^ 1;
    const altered = [
      { ...proof, addressSeed: "1" },
      { ...proof, headerBase64: "e30" },
      { ...proof, issBase64Details: { ...issBase64Details, indexMod4: (issBase64Details.indexMod4 + 1) % 4 } },
      { ...proof, issBase64Details: { ...issBase64Details, value: "abcd" } },
      { ...proof, proofPoints: { ...proofPoints, a: ["1", "2", "3"] } },
      { ...proof, proofPoints: { ...proofPoints, c: [] } },
      { ...proof, proofPoints: { ...proofPoints, c: [attestation, attestation] } },
      { ...proof, proofPoints: { ...proofPoints, c: [forged.toString("base64url")] } },
      { ...proof, proofPoints: (await prover.prove(elsewhere)).proofPoints },
    ];
    for (const wrong of altered) expect(await prover.check(wrong, request)).toBe(false);
    expect(await prover.check(proof, request)).toBe(true);
  });
});
