/** The nonces that a chain address signs to be linked to an account (decisions §4). */
import { hash } from "node:crypto";
import { renderLinkText } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { Principal, RequestContext } from "../../http/handlers.ts";
import { toTimestamp } from "../acting.ts";
import { requireProof, requireServiceOrigin } from "../chain-proofs/rules.ts";
import {
  deleteChallenges,
  deleteExpiredChallenges,
  findChallenge,
  insertChallenge,
  listChallenges,
  takeChallenge,
} from "./store.ts";

/** Milliseconds (decisions §4). */
const LIFETIME = 10 * 60_000;
/** Of one account; the oldest gives way, so that nobody who asks again is refused and nothing piles up. */
const MOST_LIVE = 10;

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "signatures">;

/** 256 random bits, of which the hash is kept. Only the credential that asked may use them, once, for 10 minutes. */
export async function makeChallenge({ database, clock, random }: Needs, principal: Principal) {
  const { accountId } = principal;
  const nonce = Buffer.from(random.bytes(32)).toString("base64url");
  const now = clock.now();
  const row = {
    nonce_hash: hashNonce(nonce),
    account_id: accountId,
    credential: describeCredential(principal),
    expires_at: now + LIFETIME,
  };
  await database.transaction(async (transaction) => {
    await transaction.run(deleteExpiredChallenges(transaction, { accountId, now }));
    const live = await transaction.all(listChallenges(transaction, { accountId }));
    await deleteChallenges(
      transaction,
      live.slice(MOST_LIVE - 1).map((challenge) => challenge.nonce_hash),
    );
    await insertChallenge(transaction, row);
  });
  return { nonce, expiresAt: toTimestamp(row.expires_at) };
}

/**
 * Rejects unless the address signed a live challenge of this very credential; resolves with its public key where that is one Ed25519 key. The
 * challenge is used up by being presented, also with a signature that does not hold: a nonce is for one answer, and asking for another costs
 * nothing. It is kept when nothing became known of the signature, because the chain's node was away.
 */
export async function requireLinkProof(
  deps: Needs,
  { chainAddress, signature, nonce }: { chainAddress: string; signature: string; nonce: string },
  { principal, serviceOrigin }: Pick<RequestContext<Principal>, "principal" | "serviceOrigin">,
): Promise<string | null> {
  const { database, clock, settings } = deps;
  const origin = requireServiceOrigin(serviceOrigin);
  const { accountId } = principal;
  const challenge = { nonceHash: hashNonce(nonce), accountId, credential: describeCredential(principal) };
  // Asked before the signature, which is dear to check, and again by the use itself, which decides.
  requireLive(await database.first(findChallenge(database, { ...challenge, now: clock.now() })));
  const text = renderLinkText({ origin, network: settings.network, chainAddress, accountId, nonce });
  const proof = await settle(requireProof(deps, { chainAddress, text, signature }));
  requireLive(await database.first(takeChallenge(database, { ...challenge, now: clock.now() })));
  if ("refusal" in proof) throw proof.refusal;
  return proof.publicKey;
}

function requireLive(challenge: object | null): void {
  if (challenge !== null) return;
  throw new ServiceError("token_invalid", "The challenge is unknown, used, expired or another credential's");
}

/** A signature that does not hold is an answer, too; everything else rejects. */
async function settle(
  proof: Promise<string | null>,
): Promise<{ readonly publicKey: string | null } | { readonly refusal: ServiceError }> {
  try {
    return { publicKey: await proof };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "signature_invalid") return { refusal: error };
    throw error;
  }
}

function hashNonce(nonce: string): string {
  return hash("sha256", nonce, "hex");
}

/** Of the account's credentials exactly one; development has none, and all its callers are one. */
function describeCredential({ kind, keyId, sessionId }: Principal): string {
  return `${kind}:${keyId ?? sessionId ?? ""}`;
}
