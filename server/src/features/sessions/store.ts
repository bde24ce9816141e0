import { prepared, type Queries } from "../../ports/database.ts";
import type { SessionRow } from "../../ports/tables.ts";
import { newest } from "../newest-store.ts";

export async function insertSession(transaction: Queries, row: SessionRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("sessions").values(row));
}

export const insertRefreshToken = prepared(
  (build, value: { hash: string; sessionId: string; now: number; expiresAt: number }) =>
    build.insertInto("refresh_tokens").values({
      hash: value.hash,
      session_id: value.sessionId,
      created_at: value.now,
      expires_at: value.expiresAt,
      rotated_at: null,
    }),
);

/**
 * Uses a refresh token up: of any number of callers at the same time, one gets the row. A token of an ended session is
 * as dead as a used one, whatever its own row says.
 */
export const rotateRefreshToken = prepared((build, value: { hash: string; now: number }) =>
  build
    .updateTable("refresh_tokens")
    .set({ rotated_at: value.now })
    .where("hash", "=", value.hash)
    .where("rotated_at", "is", null)
    .where("expires_at", ">", value.now)
    .where((row) =>
      row.exists(
        row
          .selectFrom("sessions")
          .select("sessions.id")
          .whereRef("sessions.id", "=", "refresh_tokens.session_id")
          .where("sessions.revoked_at", "is", null)
          .where("sessions.ends_at", ">", value.now),
      ),
    )
    .returning("session_id"),
);

/** The session goes on until `expiresAt`, never beyond its own end. Null when it has been ended in the meantime. */
export const extendSession = prepared(
  (build, value: { id: string; now: number; expiresAt: number; userAgent: string | null }) =>
    build
      .updateTable("sessions")
      .set((row) => ({
        last_used_at: value.now,
        user_agent: value.userAgent,
        expires_at: row
          .case()
          .when("ends_at", "<", value.expiresAt)
          .then(row.ref("ends_at"))
          .else(value.expiresAt)
          .end(),
      }))
      .where("id", "=", value.id)
      .where("revoked_at", "is", null)
      .returning(["account_id", "expires_at"]),
);

export const findRefreshToken = prepared((build, value: { hash: string }) =>
  build
    .selectFrom("refresh_tokens")
    .innerJoin("sessions", "sessions.id", "refresh_tokens.session_id")
    .select(["refresh_tokens.rotated_at", "sessions.id as session_id", "sessions.account_id", "sessions.revoked_at"])
    .where("refresh_tokens.hash", "=", value.hash),
);

/** Changes nothing for a session that has been ended: the first time counts. */
export const endSession = prepared((build, value: { accountId: string; id: string; now: number }) =>
  build
    .updateTable("sessions")
    .set({ revoked_at: value.now })
    .where("id", "=", value.id)
    .where("account_id", "=", value.accountId)
    .where("revoked_at", "is", null),
);

const endAll = prepared((build, value: { accountId: string; exceptId: string; now: number }) =>
  build
    .updateTable("sessions")
    .set({ revoked_at: value.now })
    .where("account_id", "=", value.accountId)
    .where("id", "!=", value.exceptId)
    .where("revoked_at", "is", null)
    .returning(["id", "created_at", "expires_at"]),
);

/**
 * Ends the sessions of an account, all but one if it is named. It also ends those that have expired, which a clock
 * that is set back would bring back. Resolves with those that it ended.
 */
export function endSessions(
  transaction: Queries,
  { accountId, exceptId, now }: { accountId: string; exceptId: string | null; now: number },
): Promise<Pick<SessionRow, "id" | "created_at" | "expires_at">[]> {
  return transaction.all(endAll(transaction, { accountId, exceptId: exceptId ?? "", now }));
}

export const findSession = prepared((build, value: { accountId: string; id: string }) =>
  build.selectFrom("sessions").select("id").where("id", "=", value.id).where("account_id", "=", value.accountId),
);

/** The open ones. One row more than the page holds, newest first. */
export const listSessions = newest((build, value: { accountId: string; now: number }) =>
  build
    .selectFrom("sessions")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", value.now),
);
