/** The nonces that a chain address signs for one purpose (decisions §4; encryption design §7). */
import { hash } from "node:crypto";
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { actAs } from "../account/act.ts";
import { toTimestamp } from "../timestamps.ts";
import { type ChainProof, requireProof } from "./rules.ts";
import {
  deleteChallenges,
  deleteExpiredChallenges,
  findChallenge,
  insertChallenge,
  listChallenges,
  consumeChallenge,
} from "./store.ts";

/** Challenges of one credential. The oldest gives way, so that a repeated request never fails and nothing piles up. */
export const MOST_LIVE = 100;

interface Wanted {
  /** What the nonce is for, down to the object: it is good for nothing else. */
  readonly purpose: string;
  /** Milliseconds. */
  readonly lifetime: number;
}

/** 256 random bits; the row holds their hash with the purpose. Only the credential that asked may use them, once. */
export async function makeChallenge(
  deps: Pick<Deps, "database" | "clock" | "random">,
  principal: Principal,
  { purpose, lifetime }: Wanted,
): Promise<{ nonce: string; expiresAt: string }> {
  const { accountId } = principal;
  const credential = describeCredential(principal);
  const nonce = Buffer.from(deps.random.bytes(32)).toString("base64url");
  const now = deps.clock.now();
  const row = { nonce_hash: hashNonce(purpose, nonce), account_id: accountId, credential, expires_at: now + lifetime };
  await actAs(deps, principal, async (act) => {
    await act.run(deleteExpiredChallenges(act, { accountId, now }));
    const live = await act.all(listChallenges(act, { accountId, credential }));
    await deleteChallenges(
      act,
      live.slice(MOST_LIVE - 1).map((challenge) => challenge.nonce_hash),
    );
    await insertChallenge(act, row);
  });
  return { nonce, expiresAt: toTimestamp(row.expires_at) };
}

interface Presented {
  readonly purpose: string;
  readonly nonce: string;
  /** Which address must have signed which text; asked only for a valid challenge. */
  readonly proof: () => Promise<ChainProof> | ChainProof;
}

/**
 * Rejects unless the address signed the text of a valid challenge of this very credential and purpose. Resolves with
 * its public key if that is one Ed25519 key. Presenting the challenge uses it up, even with a signature that does not
 * hold: a nonce is for one answer, and another one costs nothing. It stays if nothing became known of the signature,
 * because the chain's node was away.
 */
export async function requireChallengeProof(
  deps: Pick<Deps, "database" | "clock" | "signatures">,
  principal: Principal,
  { purpose, nonce, proof }: Presented,
): Promise<string | null> {
  const { database, clock } = deps;
  const { accountId } = principal;
  const challenge = { nonceHash: hashNonce(purpose, nonce), accountId, credential: describeCredential(principal) };
  // Asked before the signature, which is dear to check, and again by the use itself, which decides.
  requireLive(await database.first(findChallenge(database, { ...challenge, now: clock.now() })));
  const proven = await settle(requireProof(deps, await proof()));
  requireLive(await database.first(consumeChallenge(database, { ...challenge, now: clock.now() })));
  if ("refusal" in proven) throw proven.refusal;
  return proven.publicKey;
}

function requireLive(challenge: object | null): void {
  if (challenge !== null) return;
  throw new ServiceError(
    "token_invalid",
    "The challenge is unknown, used, expired, for something else or another credential's",
  );
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

function hashNonce(purpose: string, nonce: string): string {
  return hash("sha256", `${purpose}\n${nonce}`, "hex");
}

/** Exactly one of the account's credentials; development has none, and all its callers are one. */
function describeCredential({ kind, keyId, sessionId }: Principal): string {
  return `${kind}:${keyId ?? sessionId ?? ""}`;
}
