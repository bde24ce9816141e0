import { AUDIT_DAYS, FIRST_PREVIOUS_HASH, renderAuditText, type api, type AuditEvent } from "@coffer/contract";
import { digestOf, toHex } from "../../digest.ts";
import { Reply, type GroupHandlers } from "../handlers.ts";
import { objectOf } from "./event-objects.ts";
import { tell } from "./events.ts";
import type { Change } from "./identity-state.ts";
import { pageOf, timestamp, type Caller, type State, type Visitor } from "./state.ts";

type Target = AuditEvent["targets"][number];
type Before = ReturnType<typeof objectOf>;

/** Records a change of an account. The actor is the caller, the holder of an invite, else the service itself. */
export function record(
  state: State,
  visitor: Visitor | Caller,
  accountId: string,
  action: string,
  target: Target,
  more: { readonly actor?: AuditEvent["actor"]; readonly before?: Before } = {},
): void {
  const { actor = actorOf(visitor), before } = more;
  const changes = state.changes.get(accountId) ?? [];
  state.changes.set(accountId, changes);
  const change: Change = {
    ...{ id: crypto.randomUUID(), action, occurredAt: timestamp(state), actor, targets: [target] },
    context: { requestId: visitor.requestId, location: null, userAgent: visitor.userAgent },
    sequence: changes.length + 1,
    object: objectOf(state, action, target) ?? before ?? null,
  };
  changes.push(change);
  tell(state, accountId, change);
}

function actorOf(visitor: Visitor | Caller): AuditEvent["actor"] {
  if (!("key" in visitor)) return { type: "system", id: null, accessLevel: null, chainAddress: null };
  const { id, accessLevel, chainAddress } = visitor.key.value;
  return { type: visitor.kind, id, accessLevel, chainAddress };
}

export function auditHandlers(state: State): GroupHandlers<typeof api.audit, Caller> {
  return {
    list: async ({ query }, { accountId }) => {
      const oldest = timestamp(state, -AUDIT_DAYS * 86_400_000);
      const { action } = query;
      const events = (await chained(state, accountId)).filter(
        (event) =>
          event.occurredAt > oldest &&
          (action === undefined || event.action === action || event.action.startsWith(`${action}.`)),
      );
      const rows = events.map((value) => ({ accountId, sequence: value.sequence, value }));
      const { items, nextCursor } = pageOf(rows, query);
      return { events: items, nextCursor };
    },
  };
}

/** What the calls that change content do, and where their answer or path names the item. */
const CONTENT: Readonly<Record<string, readonly [action: string, type: "file" | "folder" | "vault"]>> = {
  "files.upload": ["file.uploaded", "file"],
  "files.replace": ["file.updated", "file"],
  "files.update": ["file.updated", "file"],
  "files.delete": ["file.trashed", "file"],
  "files.restore": ["file.restored", "file"],
  "folders.create": ["folder.created", "folder"],
  "folders.update": ["folder.updated", "folder"],
  "folders.delete": ["folder.trashed", "folder"],
  "folders.restore": ["folder.restored", "folder"],
  "vaults.create": ["vault.created", "vault"],
  "vaults.update": ["vault.updated", "vault"],
  "vaults.delete": ["vault.trashed", "vault"],
  "vaults.restore": ["vault.restored", "vault"],
};

/** What a call is about to change, as events would name it: after a deletion it is gone. */
export function contentBefore(state: State, endpointId: string, params: Readonly<Record<string, string>>): Before {
  const [action, type] = CONTENT[endpointId] ?? [];
  return action === undefined || type === undefined
    ? null
    : objectOf(state, action, { type, id: params[`${type}Id`] ?? "" });
}

/** Records a change of content that a call has made. */
export function recordContent(
  state: State,
  caller: Caller,
  endpointId: string,
  params: Readonly<Record<string, string>>,
  outcome: unknown,
  before: Before,
): void {
  const [action, type] = CONTENT[endpointId] ?? [];
  if (action === undefined || type === undefined) return;
  const body: unknown = outcome instanceof Reply ? outcome.body : outcome;
  const item = (body as Readonly<Record<string, { id: string; vaultId?: string } | undefined>> | undefined)?.[type];
  const id = item?.id ?? params[`${type}Id`] ?? "";
  const vaultId = type === "vault" ? id : (item?.vaultId ?? vaultOf(before));
  // Without an answer, the item was deleted for good.
  const done = item === undefined ? action.replace("trashed", "deleted") : action;
  record(
    state,
    caller,
    caller.accountId,
    done,
    { type, id, ...(vaultId === undefined ? {} : { vaultId }) },
    { before },
  );
}

function vaultOf(before: Before): string | undefined {
  return before !== null && "vaultId" in before ? before.vaultId : undefined;
}

async function chained(state: State, accountId: string): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  let previousHash = FIRST_PREVIOUS_HASH;
  for (const { object: _object, ...change } of state.changes.get(accountId) ?? []) {
    const text = renderAuditText(accountId, { ...change, previousHash });
    const hash = toHex(await digestOf(new TextEncoder().encode(text)));
    events.push({ ...change, previousHash, hash });
    previousHash = hash;
  }
  return events;
}
