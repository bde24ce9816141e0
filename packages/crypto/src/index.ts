export { ed25519StatementSigner, verifyEd25519 } from "./ed25519.ts";
export { decryptMetadata, ENCRYPTED_METADATA_SIZES, encryptMetadata, type MetadataContext } from "./entry-metadata.ts";
export {
  ENTRY_KINDS,
  ENTRY_STATEMENT_BYTES,
  JOINT_ENTRY_STATEMENT_BYTES,
  parseEntryStatement,
  signEntryStatement,
  type EntryFields,
  type EntryKind,
  type EntryStatement,
} from "./entry-statement.ts";
export { encodeEnvelope, parseEnvelope, WRAPPED_KEY_BYTES, type Envelope } from "./envelope.ts";
export { CRYPTO_STEPS, CryptoError, KeyDisposedError, type CryptoErrorCode, type CryptoStep } from "./errors.ts";
export {
  EXPORT_STATEMENT_BYTES,
  makeExportStatement,
  parseExportStatement,
  signExportStatement,
  verifyExportStatement,
  type ExportFields,
  type ExportStatement,
} from "./export-statement.ts";
export type { KeyBinding, SealedVaultKey, VaultKeyWrap } from "./key-wrap.ts";
export {
  isOnLadder,
  LADDER_STEP_BYTES,
  makeLadderStep,
  openLadderStep,
  parseLadderStep,
  type LadderStep,
} from "./ladder.ts";
export {
  findSigner,
  isMemberIn,
  isReached,
  placeOf,
  type FormerEntry,
  type ListedEntry,
  type MemberEntry,
  type VaultView,
} from "./membership.ts";
export { comparePlaces, encodePlace, END_STEP_MS, laterPlace, NO_END, type Place } from "./place.ts";
export {
  encodeMetadata,
  encodePaddedMetadata,
  MAX_CONTENT_TYPE_BYTES,
  METADATA_SIZES,
  parseMetadata,
  parsePaddedMetadata,
  type Metadata,
} from "./metadata.ts";
export { NAME_INDEX_BYTES, nameIndex, plainNameIndex } from "./name-index.ts";
export {
  openEntry,
  verifyEntryStatement,
  verifyVersion,
  verifyVersionStatement,
  type EntryAnswer,
  type EntryQuestion,
  type FindVaultKey,
  type OpenedEntry,
  type TrustedVault,
  type VerifiedVersion,
  type VersionAnswer,
  type VersionQuestion,
} from "./reading-order.ts";
export {
  isRecordForWriting,
  MAX_RECORD_BYTES,
  MAX_SEALED_KEY_BYTES,
  parseRecord,
  signRecord,
  type KeyOrigin,
  verifyRecord,
  type RecordFields,
  type VaultKeyRecord,
} from "./vault-key-record.ts";
export { decryptSearchIndex, encryptSearchIndex, type SearchIndexContext } from "./search-index.ts";
export { signStatement, statementDigest, verifyStatement, type SignedTitle } from "./signatures.ts";
export { nextNumber, statementHash, type SeenStatement } from "./statement-chain.ts";
export { requireNextEntry, requireNextVersion } from "./statement-history.ts";
export type { Author, StatementSigner } from "./statement-signer.ts";
export { randomVaultKey, VAULT_KEY_BYTES, VaultKey, type SubkeyUse } from "./vault-key.ts";
export { newVaultKeyRecord, openVaultKeys, type OpenedVaultKey } from "./vault-key-sealer.ts";
export { requireSiblings } from "./upload-signature.ts";
export {
  JOINT_VERSION_STATEMENT_BYTES,
  parseVersionStatement,
  signVersionStatement,
  VERSION_STATEMENT_BYTES,
  type VersionFields,
  type VersionStatement,
} from "./version-statement.ts";
export { makeEnvelope, unwrapDataKey, wrapDataKey, type WrapContext } from "./data-key-wrap.ts";
export {
  makeEntryStatement,
  makeUploadStatements,
  makeVersionStatement,
  signUploadStatements,
  seenEntry,
  seenVersion,
  type NewEntry,
  type NewVersion,
  type UploadStatements,
} from "./new-statements.ts";
export { toReadableStream, type ByteSource } from "./byte-source.ts";
export { decryptMessage, deriveMessageKeys, encryptMessage, MessageKeys } from "./cobblestone.ts";
export { decryptFile, decryptFileBytes, type DecryptFileOptions, type FileKey, type Unlock } from "./decrypt-file.ts";
export {
  digestMessage,
  encryptFile,
  encryptFileAgain,
  encryptFileBytes,
  type EncryptedFile,
  type EncryptFileOptions,
} from "./encrypt-file.ts";
export {
  chunkCount,
  encryptPart,
  MAX_PART_CHUNKS,
  partCapacity,
  partOffset,
  reencryptPart,
  type EncryptedPart,
  type EncryptPartOptions,
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
} from "./range-reader.ts";
export {
  encodeSavedPart,
  encodeSavedPlan,
  parseSavedPart,
  parseSavedPlan,
  type SavedPartRecord,
  type SavedPlanRecord,
} from "./saved-plan.ts";
export { DataKey, SecretKey } from "./secret-key.ts";
export {
  ciphertextSize,
  MAX_CHUNKS,
  MAX_PLAINTEXT_BYTES,
  MESSAGE_PREFIX_BYTES,
  paddedSize,
  plaintextSize,
} from "./sizes.ts";
