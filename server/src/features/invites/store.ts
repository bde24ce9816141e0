import { prepared, type Session } from "../../ports/database.ts";
import type { InviteRow } from "../../ports/tables.ts";
import type { PageRequest } from "../paging.ts";

export const findInvite = prepared((build, value: { accountId: string; id: string }) =>
  build.selectFrom("invites").selectAll().where("id", "=", value.id).where("account_id", "=", value.accountId),
);

export const findInviteByHash = prepared((build, value: { hash: string }) =>
  build.selectFrom("invites").selectAll().where("hash", "=", value.hash),
);

const listFirst = prepared((build, value: { accountId: string; limit: number }) =>
  build
    .selectFrom("invites")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(value.limit),
);

const listAfter = prepared((build, value: { accountId: string; limit: number; createdAt: number; id: string }) =>
  build
    .selectFrom("invites")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .where((row) => row(row.refTuple("created_at", "id"), "<", row.tuple(value.createdAt, value.id)))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(value.limit),
);

/** One row more than the page holds, so that the caller can tell whether another page follows. */
export function listInvites(session: Session, accountId: string, page: PageRequest): Promise<InviteRow[]> {
  const limit = page.limit + 1;
  if (page.after === null) return session.all(listFirst(session, { accountId, limit }));
  return session.all(listAfter(session, { accountId, limit, ...page.after }));
}

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

export async function insertInvite(transaction: Session, row: InviteRow): Promise<void> {
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
 * Ends an invite that was refused for its age, so that a clock that is set back does not bring it back. It was revoked at its
 * end, says the row: that is how rules.ts tells it from one that its owner revoked.
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
export const takeInvite = prepared(
  (build, value: { hash: string; keyId: string; chainAddress: string; addressProof: string | null; now: number }) =>
    build
      .updateTable("invites")
      .set({
        used_at: value.now,
        key_id: value.keyId,
        chain_address: value.chainAddress,
        address_proof: value.addressProof,
      })
      .where("hash", "=", value.hash)
      .where("used_at", "is", null)
      .where("revoked_at", "is", null)
      .where("expires_at", ">", value.now)
      .returningAll(),
);
