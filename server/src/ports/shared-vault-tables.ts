/** The rows that shared vaults add; tables.ts says how they are written. */

/** A member of a shared vault, as the service shows the vault to it; who can decrypt is on the chain. */
export interface VaultMemberRow {
  vault_id: string;
  chain_address: string;
  label: string;
  added_at: number;
  /** Set when the allowlist stopped naming it; a new membership clears it. */
  removed_at: number | null;
  /** When the membership ends by itself, as the chain was last seen to say; null: never. A hint: the chain decides. */
  ends_at: number | null;
  /** When an event reported that end; a new membership clears it. */
  ended_at: number | null;
}

/** A vault key's record (file-format §7): sealed, so the service cannot open it. */
export interface VaultKeyRow {
  vault_id: string;
  /** SHA-256 of the record in hex. */
  key_id: string;
  generation: number;
  /** With the generation the place of the key. Milliseconds since 1970. */
  after: number;
  /** Base64. */
  record: string;
  creator: string;
  created_at: number;
  /** null: the place's current record. */
  replaced_at: number | null;
}

/** A step from one vault key down to an earlier one. */
export interface LadderStepRow {
  vault_id: string;
  /** When the record that brought it was published. */
  created_at: number;
  /** 32 hex digits of the step's digest. */
  id: string;
  /** Base64. */
  step: string;
}

/** The vault key that a folder's name indexes are made with. */
export interface FolderKeyRow {
  vault_id: string;
  /** "" for the top of the vault. */
  folder_id: string;
  key_id: string;
}

/** An entry's name under a key that its folder is to change to. Base64 and hex, as in {@link FileRow.shared_json}. */
export interface StagedNameRow {
  vault_id: string;
  folder_id: string;
  key_id: string;
  /** "file" or "folder". */
  kind: string;
  item_id: string;
  entry: string;
  metadata: string;
  name_index: string;
}

/** A version of a file that was replaced: readable by its id until it expires (decision 0050). */
export interface FileVersionRow {
  vault_id: string;
  file_id: string;
  version_id: string;
  number: number;
  /** The file and other versions of it may have the same. */
  blob_key: string;
  size: number;
  /** Its part of the account's usage: 0 in shared vaults, and where the file or another version counts the same bytes. */
  charged: number;
  sha256: string;
  content_type: string;
  /** null in a public vault. */
  shared_json: string | null;
  how: string;
  author: string | null;
  /** Versions of one author have the same; "" for one that was not noted. */
  author_key: string;
  created_at: number;
  replaced_at: number;
  expires_at: number;
  /** As in files. A restored version has that of the version it came from. */
  budget_id: string | null;
}
