/** A person who signs in at the service with zkLogin, and signs with the unmodified ZkLoginSigner from then on. */
import { createClient, sessionCredentials, type SessionTokens } from "@coffer/sdk";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { generateNonce, generateRandomness, ZkLoginSigner } from "@mysten/sui/zklogin";
import type { LocalProvider, ProviderUser } from "./identity-provider.ts";

export interface ZkloginPlace {
  readonly baseUrl: string;
  readonly provider: LocalProvider;
  readonly client: SuiGrpcClient;
}

export interface ZkloginSignIn {
  readonly tokens: SessionTokens;
  /** As the service derives it. */
  readonly chainAddress: string;
  /** As the service keeps it. */
  readonly salt: string;
  readonly signer: ZkLoginSigner;
}

/** @param maxEpoch until which epoch of the chain the new ephemeral key is good. */
export async function signInWithZklogin(
  { baseUrl, provider, client }: ZkloginPlace,
  user: ProviderUser,
  { maxEpoch, accessCode }: { readonly maxEpoch: number; readonly accessCode?: string },
): Promise<ZkloginSignIn> {
  const { identityProvider } = createClient({ baseUrl });
  const ephemeralSigner = Ed25519Keypair.generate();
  const randomness = generateRandomness();
  const nonce = generateNonce(ephemeralSigner.getPublicKey(), maxEpoch, randomness);
  const { url } = await identityProvider.authorizeZklogin(accessCode === undefined ? { nonce } : { nonce, accessCode });
  const returned = await provider.signIn(url, user);
  const ephemeralPublicKey = ephemeralSigner.getPublicKey().toSuiPublicKey();
  const signedIn = await identityProvider.zkloginAuth({ ...returned, ephemeralPublicKey, maxEpoch, randomness });
  const { proof: inputs, chainAddress, salt, ...tokens } = signedIn;
  if (inputs === null) throw new Error("the service has no prover");
  // With an address, it holds the proof to it.
  const signer = new ZkLoginSigner({
    ephemeralSigner,
    inputs,
    maxEpoch,
    client,
    address: chainAddress,
    legacyAddress: false,
  });
  return { tokens, chainAddress, salt, signer };
}

export function sessionOf({ accessToken, refreshToken, expiresIn }: SessionTokens) {
  return sessionCredentials({ accessToken, refreshToken, expiresIn });
}
