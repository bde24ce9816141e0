/** What the fake tells the webhooks of an account. */
import { isSubscribed, type EventKind, type EventObject, type File, type Folder, type Vault } from "@coffer/contract";
import { timestamp, type Caller, type State } from "./state.ts";

/** Queues the event for every webhook of the account that has subscribed to its kind. */
export function announce<Kind extends EventKind>(
  state: State,
  caller: Caller,
  kind: Kind,
  object: EventObject<Kind>,
): void {
  const { accountId, keyId } = caller;
  const actor = { type: "api-key", id: keyId, chainAddress: null };
  const data = { accountId, sequence: state.next(), actor, object };
  const payload = JSON.stringify({ type: kind, timestamp: timestamp(state), data });
  const messageId = `msg_${crypto.randomUUID().replaceAll("-", "")}`;
  const receivers = [...state.webhooks.values()].filter(
    (row) => row.accountId === accountId && isSubscribed(row.value.events, kind),
  );
  const dueAt = state.now();
  const queued = receivers.map(({ value }) => ({ webhookId: value.id, messageId, payload, attempts: 0, dueAt }));
  state.deliveries = [...state.deliveries, ...queued];
}

export function describeFile({
  id,
  vaultId,
  folderId,
  versionId,
  size,
  encrypted,
}: File): EventObject<"file.uploaded"> {
  return { type: "file", id, vaultId, folderId, versionId, size, encrypted };
}

export function describeFolder({ id, vaultId, parentId }: Folder): EventObject<"folder.created"> {
  return { type: "folder", id, vaultId, parentId };
}

export function describeVault({ id, type }: Vault): EventObject<"vault.created"> {
  return { type: "vault", id, vaultType: type };
}
