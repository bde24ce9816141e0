/** What events of the fake say of their object. */
import type { EventObject, File, Folder, Vault } from "@coffer/contract";
import type { State } from "./state.ts";

interface Target {
  readonly type: string;
  readonly id: string;
}

/** null: the object is not there, or no event has its kind. */
export function objectOf(state: State, action: string, { type, id }: Target): EventObject | null {
  if (type === "file") return optional(state.files.get(id)?.value, ofFile);
  if (type === "folder") return optional(state.folders.get(id)?.value, ofFolder);
  if (type === "vault") return optional(state.vaults.get(id)?.value, ofVault);
  if (type === "api_key")
    return optional(state.keys.get(id)?.value, ({ chainAddress }) => ({ type: "api_key", id, chainAddress }));
  if (type === "invite") return ofInvite(state, action, id);
  if (type !== "account") return null;
  const plan = state.accounts.get(id)?.plan ?? "free";
  return action === "account.plan_changed" ? { type: "account", id, plan } : { type: "account", id };
}

function optional<Value>(value: Value | undefined, render: (value: Value) => EventObject): EventObject | null {
  return value === undefined ? null : render(value);
}

function ofFile({ id, vaultId, folderId, versionId, size, encrypted }: File): EventObject {
  return { type: "file", id, vaultId, folderId, versionId, size, encrypted };
}

function ofFolder({ id, vaultId, parentId }: Folder): EventObject {
  return { type: "folder", id, vaultId, parentId };
}

function ofVault({ id, type: vaultType }: Vault): EventObject {
  return { type: "vault", id, vaultType };
}

function ofInvite(state: State, action: string, id: string): EventObject | null {
  const { keyId, chainAddress } = state.invites.get(id)?.value ?? {};
  if (action !== "invite.redeemed") return { type: "invite", id };
  return keyId == null || chainAddress == null ? null : { type: "invite", id, keyId, chainAddress };
}
