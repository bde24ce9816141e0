/** One row per change, in the change's own transaction (decisions §1): audit log, webhooks and event feed read it. */
import { hash } from "node:crypto";
import { type AuditEvent, type EventObject, renderAuditText } from "@coffer/contract";
import type { Principal, RequestOrigin } from "../../handler.ts";
import { prepared, type Queries } from "../../ports/database.ts";
import type { ChangeRow } from "../../ports/tables.ts";
import { toTimestamp } from "../timestamps.ts";

/** The actor: a caller with a credential, the holder of an invite code, or the operator at the server's shell. */
export type Actor =
  | Principal
  | { readonly kind: "operator" }
  | { readonly kind: "invite"; readonly inviteId: string; readonly chainAddress: string };

export interface Change {
  readonly accountId: string;
  /** An event kind of decisions §6, such as `file.uploaded`. */
  readonly action: string;
  /** null: the service itself (expiry, clean-up), or somebody without a credential; `origin` then names the source. */
  readonly actor: Actor | null;
  /** Where the request came from; a principal brings its own. */
  readonly origin?: RequestOrigin;
  readonly target: { readonly kind: string; readonly id: string; readonly vaultId?: string };
  /** What webhooks and the event feed say of the target; for the actions that are event kinds (the contract's events.ts). */
  readonly object?: EventObject;
  readonly occurredAt: number;
  /** The change's own id, a new UUID. */
  readonly id: string;
}

const insertChange = prepared((build, row: { [Column in keyof ChangeRow]: ChangeRow[Column] }) =>
  build.insertInto("changes").values({
    account_id: row.account_id,
    sequence: row.sequence,
    id: row.id,
    action: row.action,
    actor_json: row.actor_json,
    target_json: row.target_json,
    context_json: row.context_json,
    object_json: row.object_json,
    occurred_at: row.occurred_at,
    actor_id: row.actor_id,
    actor_address: row.actor_address,
    vault_id: row.vault_id,
    folder_id: row.folder_id,
    previous_hash: row.previous_hash,
    hash: row.hash,
  }),
);

/** Which number a change gets, and the hash of the one before it. */
export interface Place {
  readonly sequence: number;
  readonly previousHash: string;
}

/** Writes the change's row and resolves with its hash. For an act of the account alone (account/act.ts): it has the place. */
export async function insertChained(transaction: Queries, change: Change, place: Place): Promise<string> {
  const event = toEvent(change, place);
  const chained = hash("sha256", renderAuditText(change.accountId, event), "hex");
  await transaction.run(insertChange(transaction, toRow(change, event, chained)));
  return chained;
}

const after = prepared((build, value: { accountId: string; after: number; limit: number }) =>
  build
    .selectFrom("changes")
    .selectAll()
    .where("account_id", "=", value.accountId)
    .where("sequence", ">", value.after)
    .orderBy("sequence")
    .limit(value.limit),
);

/**
 * Oldest first, fewer than `limit` only at the end. Numbers are given in the order of commits, so nothing ever appears
 * behind what was read.
 */
export function listChangesAfter(
  queries: Queries,
  value: { accountId: string; after: number; limit: number },
): Promise<ChangeRow[]> {
  return queries.all(after(queries, value));
}

type Unchained = Omit<AuditEvent, "hash">;

function toEvent(change: Change, { sequence, previousHash }: Place): Unchained {
  const { kind: type, id, vaultId } = change.target;
  return {
    id: change.id,
    action: change.action,
    occurredAt: toTimestamp(change.occurredAt),
    actor: renderActor(change.actor),
    targets: [vaultId === undefined ? { type, id } : { type, id, vaultId }],
    context: renderContext(change),
    sequence,
    previousHash,
  };
}

function toRow(change: Change, event: Unchained, chained: string): ChangeRow {
  return {
    account_id: change.accountId,
    sequence: event.sequence,
    id: event.id,
    action: event.action,
    actor_json: JSON.stringify(event.actor),
    target_json: JSON.stringify(event.targets[0]),
    context_json: JSON.stringify(event.context),
    object_json: change.object === undefined ? null : JSON.stringify(change.object),
    occurred_at: change.occurredAt,
    actor_id: event.actor.id,
    actor_address: event.actor.chainAddress,
    vault_id: change.target.vaultId ?? null,
    folder_id: folderOf(change.object),
    previous_hash: event.previousHash,
    hash: chained,
  };
}

/** The folder that the object is in; null for one at the top of its vault, and for what lies in no folder. */
export function folderOf(object: EventObject | null | undefined): string | null {
  if (object?.type === "file") return object.folderId;
  return object?.type === "folder" ? object.parentId : null;
}

function renderActor(actor: Actor | null): AuditEvent["actor"] {
  if (actor === null || actor.kind === "operator") {
    return { type: actor?.kind ?? "system", id: null, accessLevel: null, chainAddress: null };
  }
  if (actor.kind === "invite") {
    return { type: "invite", id: actor.inviteId, accessLevel: null, chainAddress: actor.chainAddress };
  }
  const { kind: type, keyId, sessionId, accessLevel, chainAddress } = actor;
  return { type, id: keyId ?? sessionId, accessLevel, chainAddress };
}

/** This account must not see the network address of another account's member; the request's id lets the operator find it. */
function renderContext({ accountId, actor, origin: given }: Change): AuditEvent["context"] {
  const principal = actor === null || actor.kind === "invite" || actor.kind === "operator" ? null : actor;
  const origin = given ?? principal?.origin;
  if (origin === undefined) return { requestId: null, location: null, userAgent: null };
  const isOwn = principal === null || principal.accountId === accountId;
  const { requestId, address, userAgent } = origin;
  return isOwn ? { requestId, location: address, userAgent } : { requestId, location: null, userAgent: null };
}
