/** An authenticator in software (WebAuthn level 3 §6), as far as Sui's passkey signer asks one. */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { PasskeyProvider } from "@mysten/sui/keypairs/passkey";

/** User present and verified, in the flags of the authenticator data. */
const PRESENT_AND_VERIFIED = 0x05;
const ORIGIN = "https://coffer.example";

/** One credential, made at once. */
export function virtualPasskey(): PasskeyProvider {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const rawId = toBuffer(randomBytes(16));
  const rpIdHash = createHash("sha256").update(new URL(ORIGIN).hostname).digest();
  const authenticatorData = Buffer.concat([rpIdHash, Buffer.from([PRESENT_AND_VERIFIED, 0, 0, 0, 1])]);
  const respond = (response: object) => ({ id: "", type: "public-key", rawId, response }) as never;
  return {
    create: () =>
      Promise.resolve(respond({ getPublicKey: () => toBuffer(publicKey.export({ format: "der", type: "spki" })) })),
    get: (challenge) => {
      const client = { type: "webauthn.get", challenge: Buffer.from(challenge).toString("base64url"), origin: ORIGIN };
      const clientDataJSON = Buffer.from(JSON.stringify(client));
      const digest = createHash("sha256").update(clientDataJSON).digest();
      const signature = sign("sha256", Buffer.concat([authenticatorData, digest]), privateKey);
      return Promise.resolve(
        respond({
          authenticatorData: toBuffer(authenticatorData),
          clientDataJSON: toBuffer(clientDataJSON),
          signature: toBuffer(signature),
        }),
      );
    },
  };
}

function toBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
