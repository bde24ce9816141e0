import { prepared, type Queries } from "../../ports/database.ts";
import type { InviteRow } from "../../ports/tables.ts";
import { newest } from "../newest-store.ts";

export const findInvite = prepared((build, value: { accountId: string; id: string }) =>
  build.selectFrom("invites").selectAll().where("id", "=", value.id).where("account_id", "=", value.accountId),
);

export const findInviteByHash = prepared((build, value: { hash: string }) =>
  build.selectFrom("invites").selectAll().where("hash", "=", value.hash),
);

/** One row more than the page holds, newest first. */
export const listInvites = newest((build, value: { accountId: string }) =>
  build.selectFrom("invites").selectAll().where("account_id", "=", value.accountId),
);

/** Invites that can still be redeemed. */
export const countLiveInvites = prepared((build, value: { accountId: string; now: number }) =>
  build
    .selectFrom("invites")
    .select((row) => row.fn.countAll<number>().as("live"))
    .where("account_id", "=", value.accountId)
    .where("used_at", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", value.now),
);

export async function insertInvite(transaction: Queries, row: InviteRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("invites").values(row));
}

/** A row only for the one call that revoked it: what is used or revoked stays as it is. */
export const revokeInvite = prepared((build, value: { accountId: string; id: string; now: number }) =>
  build
    .updateTable("invites")
    .set({ revoked_at: value.now })
    .where("id", "=", value.id)
    .where("account_id", "=", value.accountId)
    .where("used_at", "is", null)
    .where("revoked_at", "is", null)
    .returning("id"),
);

/**
 * Ends an invite that was refused for its age, so that a clock that is set back does not bring it back. The row says
 * that it was revoked at its end. By that, rules.ts distinguishes it from one that its owner revoked.
 */
export const endExpiredInvite = prepared((build, value: { hash: string; now: number }) =>
  build
    .updateTable("invites")
    .set((row) => ({ revoked_at: row.ref("expires_at") }))
    .where("hash", "=", value.hash)
    .where("used_at", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", "<=", value.now),
);

/** Uses an invite up: a row only for the one caller that won, and only while the invite is live. */
export const consumeInvite = prepared(
  (
    build,
    value: {
      hash: string;
      keyId: string;
      chainAddress: string;
      addressProof: string | null;
      signingKey: string | null;
      now: number;
    },
  ) =>
    build
      .updateTable("invites")
      .set({
        used_at: value.now,
        key_id: value.keyId,
        chain_address: value.chainAddress,
        address_proof: value.addressProof,
        signing_key: value.signingKey,
      })
      .where("hash", "=", value.hash)
      .where("used_at", "is", null)
      .where("revoked_at", "is", null)
      .where("expires_at", ">", value.now)
      .returningAll(),
);
