/** One row per change, in the change's own transaction (decisions §1): audit log, webhooks and event feed read it. */
import type { Principal, RequestOrigin } from "../../http/handlers.ts";
import { prepared, type Session } from "../../ports/database.ts";

/** Who did it: a caller with a credential, or the holder of an invite code. */
export type Actor = Principal | { readonly kind: "invite"; readonly inviteId: string; readonly chainAddress: string };

export interface Change {
  readonly accountId: string;
  /** An event kind of decisions §6, such as `file.uploaded`. */
  readonly action: string;
  /** null: the service itself (expiry, clean-up), or somebody without a credential, whose `origin` then says whence. */
  readonly actor: Actor | null;
  /** Where the request came from; a principal brings its own. */
  readonly origin?: RequestOrigin;
  readonly target: { readonly kind: string; readonly id: string; readonly vaultId?: string };
  readonly occurredAt: number;
  /** The change's own id, a new UUID. */
  readonly id: string;
}

const nextSequence = prepared((build, value: { accountId: string }) =>
  build
    .updateTable("accounts")
    .set((row) => ({ sequence: row("sequence", "+", 1) }))
    .where("id", "=", value.accountId)
    .returning("sequence"),
);

const insertChange = prepared(
  (
    build,
    value: {
      account_id: string;
      sequence: number;
      id: string;
      action: string;
      actor_json: string;
      target_json: string;
      occurred_at: number;
    },
  ) =>
    build.insertInto("changes").values({
      account_id: value.account_id,
      sequence: value.sequence,
      id: value.id,
      action: value.action,
      actor_json: value.actor_json,
      target_json: value.target_json,
      occurred_at: value.occurred_at,
      context_json: "{}",
      previous_hash: "0".repeat(64),
      hash: "0".repeat(64),
    }),
);

/**
 * Takes the account's next sequence number and writes the row. Call it inside the transaction that makes the change.
 * Resolves with the sequence number; throws when the account is gone.
 */
export async function recordChange(transaction: Session, change: Change): Promise<number> {
  const row = await transaction.first(nextSequence(transaction, { accountId: change.accountId }));
  if (row === null) throw new Error("a change was recorded for an account that does not exist");
  await transaction.run(
    insertChange(transaction, {
      account_id: change.accountId,
      sequence: row.sequence,
      id: change.id,
      action: change.action,
      actor_json: JSON.stringify(renderActor(change.actor)),
      target_json: JSON.stringify(change.target),
      occurred_at: change.occurredAt,
    }),
  );
  return row.sequence;
}

function renderActor(actor: Actor | null) {
  if (actor === null) return { kind: "system" };
  if (actor.kind === "invite") return actor;
  const { kind, keyId, accessLevel, chainAddress } = actor;
  return { kind, keyId, accessLevel, chainAddress };
}
