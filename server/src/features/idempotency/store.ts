/** The rows behind Idempotency-Key; http/idempotency.ts says when which of them runs. */
import { prepared } from "../../ports/database.ts";

export const findRow = prepared((build, value: { accountId: string; key: string }) =>
  build.selectFrom("idempotency").selectAll().where("account_id", "=", value.accountId).where("key", "=", value.key),
);

export const insertRow = prepared(
  (
    build,
    value: { accountId: string; key: string; fingerprint: string; owner: string; now: number; expiresAt: number },
  ) =>
    build.insertInto("idempotency").values({
      account_id: value.accountId,
      key: value.key,
      fingerprint: value.fingerprint,
      state: "running",
      resource: null,
      status: null,
      headers_json: null,
      body: null,
      owner: value.owner,
      created_at: value.now,
      expires_at: value.expiresAt,
    }),
);

/** The owner is the fencing token: a process that no longer holds it cannot commit. */
export const completeRow = prepared(
  (
    build,
    value: {
      accountId: string;
      key: string;
      owner: string;
      status: number;
      headers: string;
      body: string | null;
      resource: string | null;
    },
  ) =>
    build
      .updateTable("idempotency")
      .set({
        state: "done",
        status: value.status,
        headers_json: value.headers,
        body: value.body,
        resource: value.resource,
      })
      .where("account_id", "=", value.accountId)
      .where("key", "=", value.key)
      .where("owner", "=", value.owner)
      .where("state", "=", "running"),
);

export const deleteRow = prepared((build, value: { accountId: string; key: string; owner: string; state: string }) =>
  build
    .deleteFrom("idempotency")
    .where("account_id", "=", value.accountId)
    .where("key", "=", value.key)
    .where("owner", "=", value.owner)
    .where("state", "=", value.state),
);
