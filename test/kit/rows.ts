/** Rows for tests: valid, and different only where the test says. */
import type { Queries } from "@coffer/server/ports/database";
import type { AccountRow, FileRow, FolderRow, UploadRow, VaultRow } from "@coffer/server/ports/tables";
import { randomUUID } from "node:crypto";

const TIME = Date.UTC(2026, 0, 1);

export function accountRow(more: Partial<AccountRow> = {}): AccountRow {
  const id = more.id ?? randomUUID();
  return {
    id,
    email: `${id}@example.com`,
    email_verified: 1,
    name: null,
    idp_id: null,
    idp_issuer: null,
    password_hash: null,
    zklogin_salt: null,
    chain_address: null,
    chain_public_key: null,
    chain_address_source: null,
    plan: "pro",
    default_vault_id: randomUUID(),
    usage_bytes: 0,
    usage_files: 0,
    usage_version_bytes: 0,
    sequence: 0,
    changes_hash: "0".repeat(64),
    created_at: TIME,
    updated_at: TIME,
    ...more,
  };
}

export function vaultRow(more: Partial<VaultRow> & Pick<VaultRow, "account_id">): VaultRow {
  const id = more.id ?? randomUUID();
  return {
    id,
    name: `vault ${id}`,
    type: "public",
    chain_object_id: null,
    owner_address: null,
    chain_generation: null,
    plain_names: null,
    keep_versions_days: null,
    created_at: TIME,
    updated_at: TIME,
    trashed_at: null,
    purging_bytes: null,
    pending_retention: null,
    ...more,
  };
}

const UNAUTHORED = {
  created_by: null,
  updated_by: null,
  entry_number: 1,
  entry_at: null,
  entry_how: null,
  entry_author: null,
};

export function folderRow(more: Partial<FolderRow> & Pick<FolderRow, "account_id" | "vault_id">): FolderRow {
  const id = more.id ?? randomUUID();
  const place = { parent_id: null, depth: 1, trashed_at: null, trashed_with: null, shared_json: null, revision: 1 };
  return { id, name: `folder ${id}`, ...place, ...UNAUTHORED, created_at: TIME, updated_at: TIME, ...more };
}

export function fileRow(more: Partial<FileRow> & Pick<FileRow, "account_id" | "vault_id">): FileRow {
  const id = more.id ?? randomUUID();
  return {
    id,
    folder_id: null,
    version_id: randomUUID(),
    blob_key: randomUUID(),
    name: `file ${id}`,
    size: 10,
    content_type: "text/plain",
    sha256: "0".repeat(64),
    encrypted: 0,
    ...UNAUTHORED,
    revision: 1,
    shared_json: null,
    created_at: TIME,
    updated_at: TIME,
    trashed_at: null,
    trashed_with: null,
    version_number: 1,
    version_at: TIME,
    version_how: "upload",
    version_author: null,
    budget_id: null,
    ...more,
  };
}

export function uploadRow(more: Partial<UploadRow> & Pick<UploadRow, "account_id" | "vault_id">): UploadRow {
  const id = more.id ?? randomUUID();
  return {
    id,
    key_id: null,
    folder_id: null,
    file_id: null,
    name: `upload ${id}`,
    content_type: "text/plain",
    length: 10,
    blob_key: randomUUID(),
    if_none_match: 0,
    if_match: null,
    shared_json: null,
    keep: 1,
    held: 0,
    held_sha256: null,
    created_at: TIME,
    expires_at: TIME + 86_400_000,
    finished_file_id: null,
    ...more,
  };
}

/** An account with one vault, in the database. */
export async function insertAccount(queries: Queries): Promise<{ accountId: string; vaultId: string }> {
  const account = accountRow();
  const vault = vaultRow({ id: account.default_vault_id, account_id: account.id });
  await queries.run(queries.build.insertInto("accounts").values(account));
  await queries.run(queries.build.insertInto("vaults").values(vault));
  return { accountId: account.id, vaultId: vault.id };
}
