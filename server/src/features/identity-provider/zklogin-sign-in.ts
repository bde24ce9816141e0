/** zkLogin: a sign-in at the provider whose token vouches for an ephemeral key (specification §4.2, §5.5; decisions §3). */
import type { ZkloginProof } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { RequestOrigin } from "../../handler.ts";
import type { Identity, IdentityProvider } from "../../ports/identity-provider.ts";
import type { EphemeralKey, ProofRequest } from "../../ports/zklogin.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actOn } from "../account/act.ts";
import { linkAddress } from "../linking/linking.ts";
import { openSession } from "../sessions/opening.ts";
import { failAtProver, failAtProvider } from "./provider-failures.ts";
import { isKnownToken, rememberToken, returnSignIn, returnWithNonce, useToken } from "./sign-ins.ts";
import { findAccountByIdentity } from "./store.ts";
import { withUser } from "./users.ts";
import { addressOf, nonceOf, saltKeptFor, saltOf, type ZkloginIdentity } from "./zklogin-identities.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "atRest" | "jwtKeys" | "settings" | "zklogin" | "prover">;

export interface ReturnedCode {
  readonly code: string;
  readonly state: string;
}

export interface EphemeralValues {
  readonly ephemeralPublicKey: string;
  readonly maxEpoch: number;
  readonly randomness: string;
}

export type TokenValues = EphemeralValues & { readonly idToken: string; readonly proof?: ZkloginProof | undefined };

/** Step one: the token, and the address for it. Links nothing and opens nothing; step two does. */
export async function exchangeForToken(
  deps: Needs,
  provider: IdentityProvider,
  { code, state }: ReturnedCode,
  origin: RequestOrigin,
) {
  const { codeVerifier, nonce, accessCodeHash } = await returnWithNonce(deps, "zklogin", state);
  const identity = await provider.exchange({ code, codeVerifier, nonce }).catch(failAtProvider);
  const { chainAddress, salt } = await admit(deps, identity, accessCodeHash, origin);
  const { idToken } = identity;
  await rememberToken(deps, idToken, nonce);
  return { idToken, salt, chainAddress };
}

/** Both steps in one. The proof is there before the session is. */
export async function signInCombined(
  deps: Needs,
  provider: IdentityProvider,
  body: ReturnedCode & EphemeralValues,
  origin: RequestOrigin,
) {
  const key = keyOf(body);
  const expected = await nonceOf(deps, key);
  const { codeVerifier, nonce, accessCodeHash } = await returnSignIn(deps, "zklogin", body.state);
  if (nonce !== null && nonce !== expected) throw new ServiceError("proof_invalid");
  // The provider's token carries the ephemeral key's nonce, whether or not the service got that at the beginning.
  const identity = await provider.exchange({ code: body.code, codeVerifier, nonce: expected }).catch(failAtProvider);
  if (identity.nonce !== expected) throw new ServiceError("proof_invalid");
  const admitted = await admit(deps, identity, accessCodeHash, origin);
  requireNoOtherAddress(admitted);
  const proof = await prove(deps, { idToken: identity.idToken, key, salt: admitted.salt });
  return actOn(deps, admitted.accountId, (act) => finish(deps, act, admitted, proof, origin));
}

/**
 * Step two: the token that step one handed out, with the key that its nonce is made of. It is used up in the transaction
 * that opens the session: a token that leaks later opens none (RFC 9700 §4.5 on injected artefacts).
 */
export async function signInWithToken(
  deps: Needs,
  provider: IdentityProvider,
  body: TokenValues,
  origin: RequestOrigin,
) {
  const key = keyOf(body);
  const expected = await nonceOf(deps, key);
  const identity = await provider.verify(body.idToken).catch(failAtProvider);
  if (identity.nonce !== expected) throw new ServiceError("proof_invalid");
  // Asked before the proof, which is dear, and again by the use itself, which decides.
  if (!(await isKnownToken(deps, body.idToken))) throw new ServiceError("state_invalid");
  const known = await findKnown(deps, identity);
  requireNoOtherAddress(known);
  const request = { idToken: body.idToken, key, salt: known.salt };
  const proof = body.proof === undefined ? await prove(deps, request) : await checked(deps, body.proof, request);
  const answer = await actOn(deps, known.accountId, async (act) =>
    (await useToken(deps, act, body.idToken, expected)) ? finish(deps, act, known, proof, origin) : null,
  );
  // Outside of the transaction: an expired token stays used up.
  if (answer === null) throw new ServiceError("state_invalid");
  return answer;
}

/** An account, and the address that its identity has. */
interface Admitted extends ZkloginIdentity {
  readonly accountId: string;
  readonly linkedAddress: string | null;
}

/** The visitor's account, found or made, with its salt. */
async function admit(
  deps: Needs,
  identity: Identity,
  accessCodeHash: string | null,
  origin: RequestOrigin,
): Promise<Admitted> {
  // Claims that zkLogin cannot take are refused before they leave an account behind.
  await addressOf(deps, identity, "0");
  const found = await withUser(deps, { identity, accessCodeHash, origin }, async (act) => ({
    accountId: act.account.id,
    linkedAddress: act.account.chain_address,
    salt: saltOf(deps, act),
  }));
  return { ...found, chainAddress: await addressOf(deps, identity, found.salt) };
}

/** Step one made sure that there is an account with a salt. */
async function findKnown(deps: Needs, identity: Identity): Promise<Admitted> {
  const { issuer, subject } = identity;
  const account = await deps.database.first(findAccountByIdentity(deps.database, { issuer, subject }));
  const salt = account === null ? null : saltKeptFor(deps.atRest, account);
  if (account === null || salt === null) throw new ServiceError("state_invalid");
  const chainAddress = await addressOf(deps, identity, salt);
  return { accountId: account.id, linkedAddress: account.chain_address, salt, chainAddress };
}

/** The address of a sign-in never takes the place of one that was linked on purpose. */
function requireNoOtherAddress({
  linkedAddress,
  chainAddress,
}: Pick<Admitted, "linkedAddress" | "chainAddress">): void {
  if (linkedAddress === null || linkedAddress === chainAddress) return;
  throw new ServiceError(
    "address_conflict",
    "The account has another chain address linked: sign in without zkLogin, or with a password",
  );
}

async function finish(
  deps: Needs,
  act: AccountAct,
  { chainAddress, salt }: Admitted,
  proof: ZkloginProof | null,
  origin: RequestOrigin,
) {
  // Asked again where nobody else can link in between.
  requireNoOtherAddress({ linkedAddress: act.account.chain_address, chainAddress });
  const wanted = { chainAddress, chainPublicKey: null, source: "zklogin", actor: null, origin } as const;
  await linkAddress(deps, act, wanted);
  const tokens = await openSession(deps, act, { method: "zklogin", origin });
  return { ...tokens, chainAddress, salt, proof };
}

async function prove({ prover }: Needs, request: ProofRequest): Promise<ZkloginProof | null> {
  return prover === null ? null : prover.prove(request).catch(failAtProver);
}

/** A client's own proof. Without a prover that can check it, the chain decides: a bad one signs nothing there. */
async function checked({ prover }: Needs, proof: ZkloginProof, request: ProofRequest): Promise<ZkloginProof> {
  if (prover === null || (await prover.check(proof, request).catch(failAtProver))) return proof;
  throw new ServiceError("proof_invalid");
}

function keyOf({ ephemeralPublicKey, maxEpoch, randomness }: EphemeralValues): EphemeralKey {
  return { publicKey: ephemeralPublicKey, maxEpoch, randomness };
}
