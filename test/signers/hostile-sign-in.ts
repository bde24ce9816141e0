/** What a service can do that is a client of the identity provider and keeps the salts: sign in as its user, for a key of its own. */
import { createHash, randomBytes } from "node:crypto";
import { openDevelopmentProver } from "@coffer/server/drivers/prover/development";
import { suiZklogin } from "@coffer/server/drivers/zklogin/sui";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { generateNonce, generateRandomness, ZkLoginSigner } from "@mysten/sui/zklogin";
import type { LocalProvider, ProviderUser } from "../kit/identity-provider.ts";

export interface Taken {
  readonly user: ProviderUser;
  /** As the service keeps it. */
  readonly salt: string;
  readonly maxEpoch: number;
}

/** The user sees an ordinary sign-in: only the nonce is not the user's. */
export async function signInForItself(
  provider: LocalProvider,
  client: SuiGrpcClient,
  { user, salt, maxEpoch }: Taken,
): Promise<ZkLoginSigner> {
  const ephemeralSigner = Ed25519Keypair.generate();
  const publicKey = ephemeralSigner.getPublicKey();
  const randomness = generateRandomness();
  const idToken = await receiveToken(provider, user, generateNonce(publicKey, maxEpoch, randomness));
  const key = { publicKey: publicKey.toSuiPublicKey(), maxEpoch, randomness };
  const inputs = await openDevelopmentProver(suiZklogin).prove({ idToken, salt, key });
  return new ZkLoginSigner({ ephemeralSigner, inputs, maxEpoch, legacyAddress: false, client });
}

async function receiveToken(provider: LocalProvider, user: ProviderUser, nonce: string): Promise<string> {
  const { issuer, clientId, clientSecret, redirectUri } = provider;
  const verifier = randomBytes(32).toString("base64url");
  const question = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid",
    state: "s",
    nonce,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  const { code } = await provider.signIn(`${issuer}/auth?${new URLSearchParams(question).toString()}`, user);
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${String(clientSecret)}`).toString("base64")}` },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }),
  });
  const { id_token } = (await response.json()) as { id_token: string };
  return id_token;
}
