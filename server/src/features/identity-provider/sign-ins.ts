/** Started sign-ins: what is kept between sending a browser to the provider and its coming back (decisions §3). */
import { hash } from "node:crypto";
import { SIGN_IN_MINUTES } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Queries } from "../../ports/database.ts";
import type { IdentityProvider } from "../../ports/identity-provider.ts";
import { ServiceError } from "../../service-error.ts";
import { hashAccessCode } from "../access-codes/store.ts";
import { failAtProvider } from "./provider-failures.ts";
import { findSignIn, insertSignIn, saveSignIn, consumeSignIn } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "atRest">;

/** Which callback may use it. */
export type Flow = "idp" | "zklogin";

export interface WantedSignIn {
  readonly flow: Flow;
  /** zkLogin: the client's, made of its ephemeral key, or null when the client adds it to the address. Absent: one is made here. */
  readonly nonce?: string | null;
  readonly accessCode: string | undefined;
}

/** A sign-in that came back. */
export interface ReturnedSignIn {
  /** null: begun without one; the caller has it from elsewhere. */
  readonly nonce: string | null;
  readonly codeVerifier: string;
  readonly accessCodeHash: string | null;
}

const SIGN_IN_LIFE = SIGN_IN_MINUTES * 60_000;

const VERIFIER_PURPOSE = "sign-in-verifier";
const NONCE_PURPOSE = "sign-in-nonce";
/** Kept where a sign-in was begun without a nonce. */
const NO_NONCE = "";

/**
 * The provider's authorization URL, with 256 random bits each of state and of PKCE verifier (RFC 7636 §7.1). The row
 * keeps the state's hash, and the rest encrypted: a reader of the database can finish nobody's sign-in.
 */
export async function startSignIn(deps: Needs, provider: IdentityProvider, wanted: WantedSignIn) {
  const state = randomText(deps);
  const codeVerifier = randomText(deps);
  const nonce = wanted.nonce === undefined ? randomText(deps) : wanted.nonce;
  const codeChallenge = hash("sha256", codeVerifier, "base64url");
  const url = await provider.authorizationUrl({ state, nonce, codeChallenge }).catch(failAtProvider);
  const stateHash = hashState(state);
  await insertSignIn(deps.database, {
    state_hash: stateHash,
    flow: wanted.flow,
    nonce: deps.atRest.protect(nonce ?? NO_NONCE, NONCE_PURPOSE, stateHash),
    code_verifier: deps.atRest.protect(codeVerifier, VERIFIER_PURPOSE, stateHash),
    access_code_hash: wanted.accessCode === undefined ? null : hashAccessCode(wanted.accessCode),
    expires_at: deps.clock.now() + SIGN_IN_LIFE,
  });
  return { url, state };
}

/** Uses the state up, whatever comes of it. Rejects with `state_invalid` for one that was not begun in this flow. */
export async function returnSignIn(deps: Needs, flow: Flow, state: string): Promise<ReturnedSignIn> {
  const stateHash = hashState(state);
  const row = await deps.database.first(consumeSignIn(deps.database, { stateHash, flow }));
  if (row === null || row.expires_at <= deps.clock.now()) throw new ServiceError("state_invalid");
  const nonce = deps.atRest.reveal(row.nonce, NONCE_PURPOSE, stateHash);
  return {
    nonce: nonce === NO_NONCE ? null : nonce,
    codeVerifier: deps.atRest.reveal(row.code_verifier, VERIFIER_PURPOSE, stateHash),
    accessCodeHash: row.access_code_hash,
  };
}

/** The same for a caller that has no other nonce than the one it was begun with. */
export async function returnWithNonce(
  deps: Needs,
  flow: Flow,
  state: string,
): Promise<ReturnedSignIn & { readonly nonce: string }> {
  const returned = await returnSignIn(deps, flow, state);
  if (returned.nonce !== null) return { ...returned, nonce: returned.nonce };
  throw new ServiceError(
    "state_invalid",
    "The sign-in was begun without a nonce: finish it with code, state and the ephemeral key in one request",
  );
}

/** Step two presents an identity token: it must be one that step one handed out, and only the first time. */
export async function rememberToken(deps: Needs, idToken: string, nonce: string): Promise<void> {
  const stateHash = hashToken(idToken);
  await saveSignIn(deps.database, {
    state_hash: stateHash,
    flow: TOKEN_FLOW,
    nonce: deps.atRest.protect(nonce, NONCE_PURPOSE, stateHash),
    // There is no code left to exchange.
    code_verifier: "",
    access_code_hash: null,
    expires_at: deps.clock.now() + SIGN_IN_LIFE,
  });
}

/** Whether step one handed the token out and step two has not used it up. A look only: {@link useToken} decides. */
export async function isKnownToken({ database }: Pick<Deps, "database">, idToken: string): Promise<boolean> {
  return (await database.first(findSignIn(database, { stateHash: hashToken(idToken), flow: TOKEN_FLOW }))) !== null;
}

/** Uses the token up. False for one that step one did not hand out with this nonce, or not in the last ten minutes. */
export async function useToken(deps: Needs, transaction: Queries, idToken: string, nonce: string): Promise<boolean> {
  const stateHash = hashToken(idToken);
  const row = await transaction.first(consumeSignIn(transaction, { stateHash, flow: TOKEN_FLOW }));
  if (row === null || row.expires_at <= deps.clock.now()) return false;
  return deps.atRest.reveal(row.nonce, NONCE_PURPOSE, stateHash) === nonce;
}

const TOKEN_FLOW = "zklogin-token";

function randomText({ random }: Pick<Deps, "random">): string {
  return Buffer.from(random.bytes(32)).toString("base64url");
}

function hashState(state: string): string {
  return hash("sha256", state, "hex");
}

/** A hash of the signed part: an ECDSA signature can be written in another way without the key (S becomes n − S). */
function hashToken(idToken: string): string {
  return hash("sha256", idToken.slice(0, idToken.lastIndexOf(".")), "hex");
}
