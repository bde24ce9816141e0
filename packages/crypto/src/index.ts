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
export { toReadableStream, type ByteSource } from "./byte-source.ts";
export { decryptMessage, deriveMessageKeys, encryptMessage, MessageKeys } from "./cobblestone.ts";
export { decryptFile, type DecryptFileOptions, type FileKey, type Unlock } from "./decrypt-file.ts";
export { digestMessage, encryptFile, encryptFileAgain, type EncryptFileOptions } from "./encrypt-file.ts";
export {
  chunkCount,
  encryptPart,
  MAX_PART_CHUNKS,
  partOffset,
  reencryptPart,
  type EncryptedPart,
  type PartRecord,
  type ReadContent,
} from "./file-part.ts";
export {
  chunksOffset,
  encodeFileStart,
  newFilePlan,
  reopenFilePlan,
  type EnvelopeRequest,
  type FilePlan,
  type NewFile,
  type SavedPlan,
} from "./file-plan.ts";
export { MAX_FILE_START_BYTES, parseFileStart, type FileStart } from "./file-start.ts";
export {
  encodeHeader,
  encodeHeaderPrefix,
  fileContext,
  HEADER_BYTES,
  HEADER_PREFIX_BYTES,
  MAX_ENVELOPE_BYTES,
  parseHeader,
  type FileHeader,
} from "./header.ts";
export { decryptMessageStream } from "./message-stream.ts";
export {
  BLOCK_BYTES,
  CHUNK_BYTES,
  TAG_BYTES,
  type ChunkCipher,
  type CryptoPlatform,
  type OpenedChunks,
  type RunningDigest,
} from "./platform/platform.ts";
export { webPlatform } from "./platform/web.ts";
export {
  FIRST_READ_BYTES,
  openRangeReader,
  type RangeKey,
  type RangeReader,
  type RangeReaderOptions,
} from "./range.ts";
export {
  encodeSavedPart,
  encodeSavedPlan,
  parseSavedPart,
  parseSavedPlan,
  type SavedPartRecord,
  type SavedPlanRecord,
} from "./resume.ts";
export { DataKey, SecretKey } from "./secret-key.ts";
export {
  ciphertextSize,
  MAX_CHUNKS,
  MAX_PLAINTEXT_BYTES,
  MESSAGE_PREFIX_BYTES,
  paddedSize,
  plaintextSize,
} from "./sizes.ts";
