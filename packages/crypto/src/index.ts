export {
  ENTRY_KINDS,
  ENTRY_STATEMENT_BYTES,
  type EntryFields,
  type EntryKind,
  type EntryStatement,
} from "./entry-statement.ts";
export { CryptoError, type CryptoErrorCode, type CryptoStep } from "./errors.ts";
export type { KeyPlace, SealedVaultKey, VaultKeyWrap } from "./key-wrap.ts";
export { findSigner, isMemberIn, type FormerEntry, type MemberEntry, type VaultView } from "./membership.ts";
export type { Metadata } from "./metadata.ts";
export { MAX_SEALED_KEY_BYTES, type RecordFields, type VaultKeyRecord } from "./records.ts";
export type { Author, StatementSigner } from "./statement-signer.ts";
export { randomVaultKey, VAULT_KEY_BYTES, VaultKey, type SubkeyUse } from "./vault-key.ts";
export { VERSION_STATEMENT_BYTES, type VersionFields, type VersionStatement } from "./version-statement.ts";
