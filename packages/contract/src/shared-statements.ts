/**
 * The signed statements of shared vaults, as far as a service that cannot decrypt needs them: where each field lies (file-format §8).
 * All integers are big endian. Clients make and check statements with `@coffer/crypto`; a test holds both layouts equal.
 */

/** Offset and length of a field, in bytes. */
export type Field = readonly [offset: number, length: number];

/** What every encrypted file begins with (file-format §1). */
export const FILE_MAGIC: readonly number[] = [0x93, 0x43, 0x46, 0x52, 0x0d, 0x0a, 0x1a, 0x0a];

/** What every statement ends with. */
export const SIGNATURE_BYTES = 64;

/** What a version and an entry carry that were signed together: the digest of the other one, between fields and signature. */
export const SIBLING_BYTES = 32;

/** Of the two digests, the version's first: SHA-256 of a statement's own title ‖ 00 ‖ fields. */
export const UPLOAD_TITLE = "coffer/upload/v1";

/** The first 44 bytes of a file's header are in its version statement; these are the fields in them. */
export const VERSION_STATEMENT = {
  title: "coffer/version/v1",
  fieldBytes: 300,
  bytes: 364,
  jointBytes: 396,
  vault: [0, 32],
  header: [32, 44],
  fileId: [44, 16],
  versionId: [60, 16],
  startDigest: [76, 32],
  sequence: [108, 8],
  previous: [116, 32],
  generation: [148, 8],
  keyId: [156, 32],
  commitment: [188, 32],
  messageLength: [220, 8],
  digest: [228, 32],
  signer: [260, 32],
  time: [292, 8],
} as const satisfies StatementLayout;

export const ENTRY_STATEMENT = {
  title: "coffer/entry/v1",
  fieldBytes: 217,
  bytes: 281,
  jointBytes: 313,
  vault: [0, 32],
  kind: [32, 1],
  id: [33, 16],
  revision: [49, 8],
  previous: [57, 32],
  generation: [89, 8],
  keyId: [97, 32],
  folderId: [129, 16],
  metadataDigest: [145, 32],
  signer: [177, 32],
  time: [209, 8],
} as const satisfies StatementLayout;

/** What a member signs of an export (file-format §12). The service never sees one. */
export const EXPORT_STATEMENT = {
  title: "coffer/export/v1",
  fieldBytes: 112,
  bytes: 176,
  vault: [0, 32],
  generation: [32, 8],
  manifestDigest: [40, 32],
  signer: [72, 32],
  time: [104, 8],
} as const satisfies StatementLayout;

/** A vault key's record; `sealedKey` follows the length, the signature is what comes last. */
export const KEY_RECORD = {
  title: "coffer/vault-key/v1",
  vault: [0, 32],
  generation: [32, 8],
  creator: [40, 32],
  check: [72, 32],
  sealedLength: [104, 2],
  sealedOffset: 106,
  /** The largest sealed key that is taken (encryption design §2). */
  maxSealedBytes: 3584,
} as const;

export const ENTRY_KINDS = { file: 1, folder: 2 } as const;

interface StatementLayout {
  readonly title: string;
  /** Without sibling and signature. */
  readonly fieldBytes: number;
  /** Of one that was signed alone. */
  readonly bytes: number;
  readonly [field: string]: Field | string | number;
}
