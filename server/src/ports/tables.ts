/** The rows of the database. Times are milliseconds since the Unix epoch; flags are 0 or 1; `*_json` holds JSON text. */
import type { AuthoredRow, ItemEntryRow } from "./entry-tables.ts";
import type { BlobPartTables } from "./blob-part-tables.ts";
import type { MoveTables } from "./move-tables.ts";
import type { QuarantineTables } from "./quarantine-tables.ts";
import type { StoreMarkTables } from "./store-mark-tables.ts";
import type { OriginTables } from "./origin-tables.ts";
import type { RunningTables } from "./running-tables.ts";
import type { PurgedRow, RetentionRow, TreeActTables } from "./tree-act-tables.ts";
import type { BudgetTables } from "./budget-tables.ts";
import type * as shared from "./shared-vault-tables.ts";
import type * as webhooks from "./webhook-tables.ts";

export type * from "./entry-tables.ts";
export type * from "./budget-tables.ts";
export type * from "./quarantine-tables.ts";
export type * from "./shared-vault-tables.ts";
export type * from "./webhook-tables.ts";

export interface AccountRow {
  id: string;
  email: string;
  email_verified: number;
  name: string | null;
  /** `sub` of the identity provider's token, and its issuer. */
  idp_id: string | null;
  idp_issuer: string | null;
  /** argon2id in the PHC string format; null: no password can sign in. */
  password_hash: string | null;
  /** The salt of the zkLogin address, encrypted at rest; made once, because another salt is another address. */
  zklogin_salt: string | null;
  chain_address: string | null;
  /** Ed25519, base64: what the address is the hash of; null where another signer proved it. */
  chain_public_key: string | null;
  chain_address_source: string | null;
  plan: string;
  default_vault_id: string;
  /** Stored bytes and files, trash included; changed only in the transaction that changes the files. */
  usage_bytes: number;
  usage_files: number;
  /** The part of `usage_bytes` that is counted for kept versions. */
  usage_version_bytes: number;
  /** The number of the newest row in `changes`. */
  sequence: number;
  /** `hash` of the newest row in `changes`. */
  changes_hash: string;
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
  /** Ed25519, base64, as in accounts. */
  chain_public_key: string | null;
  /** The `Budget`s of the key (handler.ts); null: it has none. */
  budgets_json: string | null;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  created_at: number;
}

export interface VaultRow extends PurgedRow, RetentionRow {
  id: string;
  account_id: string;
  name: string;
  type: string;
  chain_object_id: string | null;
  /** The chain object's generation, as last read; null for a public vault, like the two that follow. */
  owner_address: string | null;
  chain_generation: number | null;
  plain_names: number | null;
  /** How long replaced versions stay; null: as long as the server's setting says. */
  keep_versions_days: number | null;
  created_at: number;
  updated_at: number;
  /** null: not in the trash. Nobody sees the content of a vault in the trash until it is restored. */
  trashed_at: number | null;
}

export interface FolderRow extends AuthoredRow {
  id: string;
  account_id: string;
  vault_id: string;
  parent_id: string | null;
  /** The blind index of the name in a shared vault with encrypted names. */
  name: string;
  /** 1 at the top of the vault. */
  depth: number;
  created_at: number;
  updated_at: number;
  trashed_at: number | null;
  /** The folder whose deletion took this row along (its own id for the folder that was deleted itself). */
  trashed_with: string | null;
  /** The contract's `SharedEntry`; null in a public vault. */
  shared_json: string | null;
  /** Raised by every rename, move, trash and restore. */
  revision: number;
}

export interface FileRow extends AuthoredRow {
  id: string;
  account_id: string;
  vault_id: string;
  folder_id: string | null;
  version_id: string;
  blob_key: string;
  /** The blind index of the name in a shared vault with encrypted names. */
  name: string;
  size: number;
  content_type: string;
  sha256: string;
  encrypted: number;
  /** The contract's `SharedFile`; null in a public vault. */
  shared_json: string | null;
  created_at: number;
  updated_at: number;
  trashed_at: number | null;
  trashed_with: string | null;
  /** Raised by every rename, move, trash and restore. */
  revision: number;
  /** The number of the current version. The first is 1. */
  version_number: number;
  version_at: number;
  /** "upload", "replace" or "restore". */
  version_how: string;
  /** The contract's `Author` in JSON; null: it was made before authors were noted. */
  version_author: string | null;
  /** The budget that counts the content as stored; null: none. All that have the same blob have the same. */
  budget_id: string | null;
}

/** A resumable upload. The blob store alone has its progress: the offset is what is durable there. */
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
  /** The contract's `SharedFile` of the version to come; null in a public vault. */
  shared_json: string | null;
  /** 0: the content before is given up when the upload is done. */
  keep: number;
  /** 1: its bytes make nothing by themselves: a commit of files makes the file's version of them. */
  held: number;
  /** Of a held upload: the digest of its bytes, once they are all there and wait. null before, and of other uploads. */
  held_sha256: string | null;
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
  context_json: string;
  /** The object as webhooks and the event feed show it (the contract's `EventObject`); null where no event kind fits. */
  object_json: string | null;
  occurred_at: number;
  actor_id: string | null;
  actor_address: string | null;
  vault_id: string | null;
  folder_id: string | null;
  /** The hash of the row before this one in the account's sequence; 64 zeros for the first. */
  previous_hash: string;
  /** SHA-256 of the contract's `renderAuditText` in hex. */
  hash: string;
}

/** Where an account's chain begins since the retention removed what was before: the newest row that it removed. */
export interface RemovedChangesRow {
  account_id: string;
  sequence: number;
  hash: string;
}

/** A web session: the family of its refresh tokens (specification §2.7, §3). */
export interface SessionRow {
  id: string;
  account_id: string;
  /** "password", "idp" or "zklogin". */
  method: string;
  user_agent: string | null;
  created_at: number;
  last_used_at: number;
  /** When the newest refresh token ends. */
  expires_at: number;
  /** No refresh goes beyond this. */
  ends_at: number;
  revoked_at: number | null;
}

export interface RefreshTokenRow {
  /** SHA-256 of the token in hex. */
  hash: string;
  session_id: string;
  created_at: number;
  expires_at: number;
  /** Set by the one refresh that used it; seen again after that, the session ends. */
  rotated_at: number | null;
}

/** A started sign-in at the identity provider; deleted by the callback that uses it. */
export interface SignInRow {
  /** SHA-256 in hex: of the state, or of the identity token that step one of zkLogin handed out. */
  state_hash: string;
  /** "idp", "zklogin" or "zklogin-token". */
  flow: string;
  /** Encrypted at rest. */
  nonce: string;
  /** PKCE, encrypted at rest; empty for a token. */
  code_verifier: string;
  access_code_hash: string | null;
  expires_at: number;
}

/** A nonce to sign for linking a chain address; deleted on use. */
export interface ChainChallengeRow {
  nonce_hash: string;
  account_id: string;
  /** Kind and id of the credential that asked: only it may use the nonce. */
  credential: string;
  expires_at: number;
}

export interface SubscriptionRow {
  account_id: string;
  plan: string;
  /** "active", "ending" or "ended". */
  status: string;
  /** The payment provider's name for it. */
  reference: string;
  since: number;
  /** When the newest event that was taken occurred: an older one changes nothing. */
  event_at: number;
}

/** Events of the payment provider that were taken, so that a repeat changes nothing. */
export interface PaymentEventRow {
  id: string;
  received_at: number;
}

export interface AccessCodeRow {
  id: string;
  /** SHA-256 of the code in hex. */
  hash: string;
  note: string | null;
  uses_left: number;
  expires_at: number | null;
  revoked_at: number | null;
  created_at: number;
}

export interface MailTokenRow {
  /** SHA-256 of the token in hex. */
  hash: string;
  account_id: string;
  /** "verify" or "reset". */
  purpose: string;
  /** Where it was mailed: it verifies this address and no other. */
  email: string;
  expires_at: number;
  used_at: number | null;
}

/** A mail that was asked for. Its token is minted when it is sent, so none waits here (decisions §1). */
export interface MailRequestRow {
  id: string;
  purpose: string;
  /** As it was asked for: whether an account has it is found out when the mail is sent. */
  email: string;
  attempts: number;
  not_before: number;
  created_at: number;
}

export interface InviteRow {
  id: string;
  account_id: string;
  name: string;
  /** SHA-256 of the code in hex. */
  hash: string;
  scopes_json: string | null;
  vault_ids_json: string | null;
  budgets_json: string | null;
  /** The key made of it must not outlive the key that made the invite; null: no end. */
  key_expires_at: number | null;
  /** The end that was asked for, of the key and of memberships made by the invite; null: none. */
  access_until: number | null;
  expires_at: number;
  used_at: number | null;
  revoked_at: number | null;
  key_id: string | null;
  chain_address: string | null;
  address_proof: string | null;
  /** Ed25519 in base64; null: the redeemer's chain key signs its statements, or it said nothing. */
  signing_key: string | null;
  created_at: number;
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
  /** The process that runs it: it shows whether the request crashed or is slow. */
  owner: string;
  created_at: number;
  expires_at: number;
}

/** What only one process does at a time (ports/leases.ts). */
export interface LeaseRow {
  name: string;
  /** null: released. */
  holder: string | null;
  /** Counts the holders. */
  fence: number;
  until: number;
  /** 1: the holder before did not release it. */
  taken_over: number;
}

/** Wrong passwords for an e-mail, or that a client is familiar to it: `attempts` is 0 then (features/auth/sign-in-delays.ts). */
export interface SignInDelayRow {
  /** A hash of what it is about. */
  key: string;
  attempts: number;
  next_at: number;
  expires_at: number;
}

export interface Tables
  extends
    BudgetTables,
    BlobPartTables,
    MoveTables,
    QuarantineTables,
    OriginTables,
    RunningTables,
    StoreMarkTables,
    TreeActTables {
  accounts: AccountRow;
  api_keys: ApiKeyRow;
  vaults: VaultRow;
  vault_members: shared.VaultMemberRow;
  vault_keys: shared.VaultKeyRow;
  ladder_steps: shared.LadderStepRow;
  folder_keys: shared.FolderKeyRow;
  staged_names: shared.StagedNameRow;
  file_versions: shared.FileVersionRow;
  item_entries: ItemEntryRow;
  /** What an account's terms begin with, the newest entry's number, which is the lowest, and how many entries wait (decision 0053). */
  search_scopes: { account_id: string; number: number; next: number; waiting: number };
  folders: FolderRow;
  files: FileRow;
  uploads: UploadRow;
  changes: ChangeRow;
  removed_changes: RemovedChangesRow;
  sessions: SessionRow;
  refresh_tokens: RefreshTokenRow;
  sign_ins: SignInRow;
  chain_challenges: ChainChallengeRow;
  subscriptions: SubscriptionRow;
  payment_events: PaymentEventRow;
  access_codes: AccessCodeRow;
  mail_tokens: MailTokenRow;
  mail_requests: MailRequestRow;
  invites: InviteRow;
  webhooks: webhooks.WebhookRow;
  webhook_cursors: webhooks.WebhookCursorRow;
  webhook_deliveries: webhooks.WebhookDeliveryRow;
  webhook_attempts: webhooks.WebhookAttemptRow;
  idempotency: IdempotencyRow;
  leases: LeaseRow;
  sign_in_delays: SignInDelayRow;
}
