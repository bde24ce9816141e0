/** What the handlers that change something have in common: who acts, what they may reach, and the row that says so. */
import type { EventKind, EventObject } from "@coffer/contract";
import type { Deps } from "../deps.ts";
import type { Principal } from "../handler.ts";
import type { FileRow, FolderRow, VaultRow } from "../ports/tables.ts";
import { ServiceError } from "../service-error.ts";
import type { AccountAct } from "./account/act.ts";
import { fileObject, folderObject, vaultObject } from "./changes/objects.ts";
import type { Actor } from "./changes/store.ts";

/** The slice every changing handler needs. */
export type ActingDeps = Pick<Deps, "database" | "clock" | "random">;

/** What a change is of, for the audit log (`kind`, `id`) and for webhooks (`object`). */
export interface Target {
  readonly kind: "vault" | "folder" | "file";
  readonly id: string;
  /** The account of the vault: it records changes, whoever acts. */
  readonly accountId: string;
  readonly vaultId: string;
  readonly object: EventObject;
}

export function fileTarget(row: FileRow): Target {
  return { kind: "file", id: row.id, accountId: row.account_id, vaultId: row.vault_id, object: fileObject(row) };
}

export function folderTarget(row: FolderRow): Target {
  return { kind: "folder", id: row.id, accountId: row.account_id, vaultId: row.vault_id, object: folderObject(row) };
}

export function vaultTarget(row: VaultRow): Target {
  return { kind: "vault", id: row.id, accountId: row.account_id, vaultId: row.id, object: vaultObject(row) };
}

/** Writes the change's row in its own act (decisions §1); `action` is an event kind of decisions §6. */
export async function recordChange(
  act: AccountAct,
  actor: Actor | null,
  action: EventKind,
  { object, accountId, ...target }: Target,
): Promise<void> {
  await act.record({ accountId, action, actor, target, object });
}

/** Whether a key's vault limit lets it see what lies in the vault. */
export function reaches(principal: Principal, vaultId: string): boolean {
  return principal.vaultIds === null || principal.vaultIds.has(vaultId);
}

/** The row if the caller may see it, else 404: whether it exists is not disclosed (decisions §1). */
export function visible<Row extends { readonly vault_id: string }>(
  principal: Principal,
  row: Row | null,
  kind: string,
): Row {
  if (row === null || !reaches(principal, row.vault_id)) throw notFound(kind);
  return row;
}

export function notFound(kind: string): ServiceError {
  return new ServiceError("not_found", `${kind} not found`);
}
