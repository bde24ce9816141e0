/** The rows of the database. Times are milliseconds since the Unix epoch; flags are 0 or 1; `*_json` holds JSON text. */

export interface AccountRow {
  id: string;
  email: string;
  email_verified: number;
  name: string | null;
  idp_id: string | null;
  chain_address: string | null;
  chain_address_source: string | null;
  plan: string;
  default_vault_id: string;
  /** Stored bytes and files, trash included; changed only in the transaction that changes the files. */
  usage_bytes: number;
  usage_files: number;
  /** Of the newest row in `changes`. */
  sequence: number;
  created_at: number;
  updated_at: number;
}

export interface ApiKeyRow {
  id: string;
  account_id: string;
  name: string;
  /** SHA-256 of the raw key in hex; the raw key is kept nowhere (specification §2.4). */
  hash: string;
  prefix: string;
  last4: string;
  scopes_json: string | null;
  vault_ids_json: string | null;
  chain_address: string | null;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  created_at: number;
}

export interface VaultRow {
  id: string;
  account_id: string;
  name: string;
  type: string;
  chain_object_id: string | null;
  created_at: number;
  updated_at: number;
}

export interface FolderRow {
  id: string;
  account_id: string;
  vault_id: string;
  parent_id: string | null;
  name: string;
  /** 1 at the top of the vault. */
  depth: number;
  created_at: number;
  updated_at: number;
  trashed_at: number | null;
  /** The folder whose deletion took this row along (its own id for the folder that was deleted itself). */
  trashed_with: string | null;
}

export interface FileRow {
  id: string;
  account_id: string;
  vault_id: string;
  folder_id: string | null;
  version_id: string;
  blob_key: string;
  name: string;
  size: number;
  content_type: string;
  sha256: string;
  encrypted: number;
  created_at: number;
  updated_at: number;
  trashed_at: number | null;
  trashed_with: string | null;
}

/** A resumable upload. How far it is stands in the blob store alone: the offset is what is durable there. */
export interface UploadRow {
  id: string;
  account_id: string;
  key_id: string | null;
  vault_id: string;
  folder_id: string | null;
  /** Set when the upload makes a new version of this file. */
  file_id: string | null;
  name: string;
  content_type: string;
  length: number;
  blob_key: string;
  if_none_match: number;
  if_match: string | null;
  created_at: number;
  /** When row and bytes are removed; the upload is over an hour earlier and answers 410 in between. */
  expires_at: number;
  /** Set in the transaction that made the file, so that a repeated last part answers it again. */
  finished_file_id: string | null;
}

/** One row per change, written in the change's transaction: audit log, webhooks and event feed read it (decisions §1). */
export interface ChangeRow {
  account_id: string;
  sequence: number;
  id: string;
  action: string;
  actor_json: string;
  target_json: string;
  occurred_at: number;
}

export interface IdempotencyRow {
  account_id: string;
  key: string;
  fingerprint: string;
  /** "running" or "done". */
  state: string;
  /** What was created; answered instead of a response that held a secret. */
  resource: string | null;
  status: number | null;
  headers_json: string | null;
  body: string | null;
  /** The process that runs it, so that a crash can be told from a slow request. */
  owner: string;
  created_at: number;
  expires_at: number;
}

/** Blobs that no row needs any more; a job deletes them once `not_before` has passed. */
export interface BlobDeletionRow {
  blob_key: string;
  not_before: number;
}

export interface Tables {
  accounts: AccountRow;
  api_keys: ApiKeyRow;
  vaults: VaultRow;
  folders: FolderRow;
  files: FileRow;
  uploads: UploadRow;
  changes: ChangeRow;
  idempotency: IdempotencyRow;
  blob_deletions: BlobDeletionRow;
}
