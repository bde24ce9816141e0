/** The SQL of nonces that chain addresses sign. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { ChainChallengeRow } from "../../ports/tables.ts";

export const deleteExpiredChallenges = prepared((build, value: { accountId: string; now: number }) =>
  build.deleteFrom("chain_challenges").where("account_id", "=", value.accountId).where("expires_at", "<=", value.now),
);

/** A credential's challenges, newest first. */
export const listChallenges = prepared((build, value: { accountId: string; credential: string }) =>
  build
    .selectFrom("chain_challenges")
    .select("nonce_hash")
    .where("account_id", "=", value.accountId)
    .where("credential", "=", value.credential)
    .orderBy("expires_at", "desc")
    .orderBy("nonce_hash"),
);

export async function deleteChallenges(transaction: Queries, hashes: readonly string[]): Promise<void> {
  if (hashes.length === 0) return;
  await transaction.run(transaction.build.deleteFrom("chain_challenges").where("nonce_hash", "in", [...hashes]));
}

export async function insertChallenge(transaction: Queries, row: ChainChallengeRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("chain_challenges").values(row));
}

export const findChallenge = prepared(
  (build, value: { nonceHash: string; accountId: string; credential: string; now: number }) =>
    build
      .selectFrom("chain_challenges")
      .select("nonce_hash")
      .where("nonce_hash", "=", value.nonceHash)
      .where("account_id", "=", value.accountId)
      .where("credential", "=", value.credential)
      .where("expires_at", ">", value.now),
);

/** Uses a challenge up: a row for the one caller that it was made for, once, before it expires. */
export const consumeChallenge = prepared(
  (build, value: { nonceHash: string; accountId: string; credential: string; now: number }) =>
    build
      .deleteFrom("chain_challenges")
      .where("nonce_hash", "=", value.nonceHash)
      .where("account_id", "=", value.accountId)
      .where("credential", "=", value.credential)
      .where("expires_at", ">", value.now)
      .returning("nonce_hash"),
);
