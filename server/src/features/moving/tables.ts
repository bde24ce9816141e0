/** What moves, in an order in which every row finds the rows that it names. */
import type { Tables } from "../../ports/tables.ts";

export interface MovedTable {
  readonly name: keyof Tables;
  /** Rows are read in its order, which is the same in every dialect: text by its bytes. */
  readonly key: readonly string[];
  /** Only these rows. */
  readonly only?: { readonly column: string; readonly isSet: true };
}

const table = (name: keyof Tables, ...key: string[]): MovedTable => ({ name, key });

export const MOVED: readonly MovedTable[] = [
  table("accounts", "id"),
  table("api_keys", "id"),
  table("vaults", "id"),
  // Parents before their children.
  table("folders", "depth", "id"),
  table("tree_acts", "root_id"),
  table("files", "id"),
  table("ended_items", "item_id"),
  table("file_versions", "file_id", "version_id"),
  table("item_entries", "item_id", "number"),
  table("search_scopes", "account_id"),
  table("vault_members", "vault_id", "chain_address"),
  table("vault_keys", "vault_id", "key_id"),
  table("folder_keys", "vault_id", "folder_id"),
  table("staged_names", "vault_id", "folder_id", "key_id", "item_id"),
  table("ladder_steps", "vault_id", "created_at", "id"),
  // Others begin again: their bytes are in a form of their storage's own.
  { ...table("uploads", "id"), only: { column: "finished_file_id", isSet: true } },
  table("budgets", "id"),
  table("budget_slots", "budget_id", "slot"),
  table("changes", "account_id", "sequence"),
  table("removed_changes", "account_id"),
  table("sessions", "id"),
  table("refresh_tokens", "hash"),
  table("sign_ins", "state_hash"),
  table("sign_in_delays", "key"),
  table("chain_challenges", "nonce_hash"),
  table("subscriptions", "account_id"),
  table("payment_events", "id"),
  table("access_codes", "id"),
  table("mail_tokens", "hash"),
  table("mail_requests", "id"),
  table("invites", "id"),
  table("webhooks", "id"),
  table("webhook_cursors", "account_id"),
  table("webhook_deliveries", "id"),
  table("webhook_attempts", "delivery_id", "number"),
  table("idempotency", "account_id", "key"),
  table("blob_deletions", "blob_key"),
  table("blob_quarantine", "blob_key"),
  // What is counted in running time goes on where it was.
  table("running_marks", "id"),
  table("database_origin", "id"),
];

/** What binds running processes and unfinished uploads, belongs to a store, or is made again. */
export const LEFT_BEHIND: readonly string[] = [
  ...["leases", "rates", "upload_holds", "budget_holds", "blob_partials", "blob_parts", "moves", "migrations"],
  ...["file_terms", "sweeps", "store_marks"],
];
