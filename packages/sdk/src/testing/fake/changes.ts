/** The change list of the fake: the whole log of an account, which it never shortens. */
import { DEFAULT_PAGE, type api, type Change as ListedChange } from "@coffer/contract";
import { Failure, type GroupHandlers, type Input } from "../handlers.ts";
import type { Change } from "./identity-state.ts";
import { readVaultOrTrashed, type Caller, type State } from "./state.ts";

type Query = Input<typeof api.changes.list>["query"];

export function changesHandlers(state: State): GroupHandlers<typeof api.changes, Caller> {
  return {
    list: async ({ query }, caller) => {
      if (query.vaultId !== undefined) readVaultOrTrashed(state, caller, query.vaultId);
      const from = startOf(state, caller, query);
      const until = performance.now() + (query.wait ?? 0) * 1000;
      for (;;) {
        const head = state.changes.get(caller.accountId)?.length ?? 0;
        const found = (state.changes.get(caller.accountId) ?? [])
          .filter((change) => change.sequence > from && isSeen(change, caller) && isWanted(change, query))
          .slice(0, (query.limit ?? DEFAULT_PAGE) + 1);
        const changes = found.slice(0, query.limit ?? DEFAULT_PAGE);
        const isLast = found.length === changes.length;
        const place = isLast ? head : (changes.at(-1)?.sequence ?? head);
        if (changes.length > 0 || performance.now() >= until)
          return {
            changes: changes.map(toListed),
            nextCursor: isLast && query.wait === undefined ? null : `c${String(place)}.`,
          };
        await nextChange(state, until - performance.now());
      }
    },
  };
}

function startOf(state: State, { accountId }: Caller, { cursor, after = 0 }: Query): number {
  const text = cursor === undefined ? String(after) : /^c(\d{1,15})\.$/.exec(cursor)?.[1];
  if (text === undefined) throw new Failure("validation_failed", "query.cursor: not a cursor of this list");
  if (Number(text) > (state.changes.get(accountId)?.length ?? 0)) throw new Failure("cursor_expired");
  return Number(text);
}

/** Agents, and keys with a limit, see what lies in their vaults. */
export function isSeen(change: Change | undefined, { key }: Caller): boolean {
  const { accessLevel, vaultIds } = key.value;
  const vaultId = change?.targets[0]?.vaultId;
  if (vaultIds === null) return accessLevel === "owner" || vaultId !== undefined;
  return vaultId !== undefined && vaultIds.includes(vaultId);
}

function isWanted({ action, actor, occurredAt, targets, object }: Change, query: Query): boolean {
  const { by, vaultId, folderId, kind, since, until } = query;
  if (by !== undefined && by !== actor.id && by !== actor.chainAddress) return false;
  if (vaultId !== undefined && vaultId !== targets[0]?.vaultId) return false;
  if (folderId !== undefined && folderId !== folderOf(object)) return false;
  if (kind !== undefined && action !== kind && !action.startsWith(`${kind}.`)) return false;
  return (since === undefined || occurredAt >= since) && (until === undefined || occurredAt <= until);
}

function folderOf(object: Change["object"]): string | null {
  if (object?.type === "file") return object.folderId;
  return object?.type === "folder" ? object.parentId : null;
}

function toListed({ sequence, id, action: kind, occurredAt, actor, targets, object }: Change): ListedChange {
  const file = object?.type === "file" ? object : null;
  const target = targets[0];
  return {
    ...{ sequence, id, kind, occurredAt },
    actor: { type: actor.type, id: actor.id, chainAddress: actor.chainAddress },
    object: {
      ...{ type: target?.type ?? "", id: target?.id ?? "" },
      ...{ vaultId: target?.vaultId ?? null, folderId: folderOf(object) },
      ...{ versionId: file?.versionId ?? null, size: file?.size ?? null },
    },
  };
}

async function nextChange(state: State, milliseconds: number): Promise<void> {
  let wake = (): void => undefined;
  const woken = new Promise<void>((resolve) => state.readers.add((wake = resolve)));
  const timer = setTimeout(wake, milliseconds);
  await woken;
  clearTimeout(timer);
  state.readers.delete(wake);
}
