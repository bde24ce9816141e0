/**
 * The signed statements of shared vaults, as far as a service that cannot decrypt needs them: where each field lies (file-format §8).
 * All integers are big endian. Clients make and check statements with `@coffer/crypto`; a test holds both layouts equal.
 */

/** Offset and length of a field, in bytes. */
export type Field = readonly [offset: number, length: number];

/** What every encrypted file begins with (file-format §1). */
export const FILE_MAGIC: readonly number[] = [0x93, 0x43, 0x46, 0x52, 0x0d, 0x0a, 0x1a, 0x0a];

/** The end of every statement. */
export const SIGNATURE_BYTES = 64;

/** What a version and an entry carry that were signed together: the digest of the other one, between fields and signature. */
export const SIBLING_BYTES = 32;

/** Signs the two digests, the version's first: SHA-256 of a statement's own title ‖ 00 ‖ fields. */
export const UPLOAD_TITLE = "coffer/upload/v1";

/** The first 44 bytes of a file's header are in its version statement; these are their fields. */
export const VERSION_STATEMENT = {
  title: "coffer/version/v1",
  fieldBytes: 308,
  bytes: 372,
  jointBytes: 404,
  vault: [0, 32],
  header: [32, 44],
  fileId: [44, 16],
  versionId: [60, 16],
  startDigest: [76, 32],
  sequence: [108, 8],
  previous: [116, 32],
  generation: [148, 8],
  after: [156, 8],
  keyId: [164, 32],
  commitment: [196, 32],
  messageLength: [228, 8],
  digest: [236, 32],
  signer: [268, 32],
  time: [300, 8],
} as const satisfies StatementLayout;

export const ENTRY_STATEMENT = {
  title: "coffer/entry/v1",
  fieldBytes: 225,
  bytes: 289,
  jointBytes: 321,
  vault: [0, 32],
  kind: [32, 1],
  id: [33, 16],
  revision: [49, 8],
  previous: [57, 32],
  generation: [89, 8],
  after: [97, 8],
  keyId: [105, 32],
  folderId: [137, 16],
  metadataDigest: [153, 32],
  signer: [185, 32],
  time: [217, 8],
} as const satisfies StatementLayout;

/** What a member signs of an export (file-format §12). The service never sees one. */
export const EXPORT_STATEMENT = {
  title: "coffer/export/v1",
  fieldBytes: 120,
  bytes: 184,
  vault: [0, 32],
  generation: [32, 8],
  after: [40, 8],
  manifestDigest: [48, 32],
  signer: [80, 32],
  time: [112, 8],
} as const satisfies StatementLayout;

/** A vault key's record; `sealedKey` follows the length, and the signature comes last. */
export const KEY_RECORD = {
  title: "coffer/vault-key/v1",
  /** The maker signs the fields before `check`'s end, with its own address in the place of the creator's. */
  madeTitle: "coffer/vault-key-made/v1",
  vault: [0, 32],
  generation: [32, 8],
  after: [40, 8],
  creator: [48, 32],
  check: [80, 32],
  maker: [112, 32],
  made: [144, 64],
  sealedLength: [208, 2],
  sealedOffset: 210,
  /** The largest sealed key that the service accepts (encryption design §2). */
  maxSealedBytes: 3584,
} as const;

/** A step from one vault key down to an earlier one: nobody signs it (encryption design §7). A place is a generation and `after`. */
export const LADDER_STEP = {
  bytes: 200,
  vault: [0, 32],
  from: [32, 16],
  to: [48, 16],
  check: [64, 32],
} as const;

export const ENTRY_KINDS = { file: 1, folder: 2 } as const;

interface StatementLayout {
  readonly title: string;
  /** Without sibling and signature. */
  readonly fieldBytes: number;
  /** Bytes of a statement that was signed alone. */
  readonly bytes: number;
  readonly [field: string]: Field | string | number;
}
