/** The vectors of file-format §6 to §12, as file-format/statements.json holds them for any implementation. */
import type { CryptoErrorCode, CryptoStep, EntryKind, Metadata, SignedTitle } from "@coffer/crypto";

/** Bytes are base64, integers of 64 bits are decimal texts. */
export interface StatementVectors {
  readonly about: readonly string[];
  readonly people: readonly PersonVector[];
  readonly vaultKeys: readonly VaultKeyVector[];
  readonly signatures: readonly SignatureVector[];
  readonly forgedSignatures: readonly ForgedSignature[];
  readonly metadata: readonly MetadataVector[];
  readonly refusedMetadata: readonly { readonly name: string; readonly kind: EntryKind; readonly encoded: string }[];
  readonly nameIndexes: readonly NameIndexVector[];
  readonly views: Readonly<Record<string, ViewVector>>;
  readonly versions: readonly VersionCase[];
  readonly entries: readonly EntryCase[];
  readonly exports: readonly ExportCase[];
  readonly ladder: readonly LadderCase[];
}

export interface PersonVector {
  readonly name: string;
  readonly address: string;
  readonly seed: string;
  readonly publicKey: string;
}

export interface VaultKeyVector {
  readonly name: string;
  readonly generation: string;
  readonly after: string;
  readonly key: string;
  readonly wrap: string;
  readonly metadata: string;
  readonly nameIndex: string;
  readonly ladder: string;
  readonly check: string;
}

export interface SignatureVector {
  readonly title: SignedTitle;
  readonly body: string;
  readonly person: string;
  /** The 32 bytes that Ed25519 signs. */
  readonly digest: string;
  readonly signature: string;
}

export interface MetadataVector {
  readonly kind: EntryKind;
  readonly metadata: Metadata;
  readonly encoded: string;
  readonly padded: string;
}

export interface NameIndexVector {
  readonly vaultKey: string;
  readonly folderId: string | null;
  readonly name: string;
  readonly index: string;
  readonly plainIndex: string;
}

export interface ViewVector {
  readonly plainNames: boolean;
  readonly vault: string;
  readonly generation: string;
  readonly floor: string;
  readonly base: string;
  /** Milliseconds since 1970. */
  readonly time: string;
  readonly owner: MemberVector;
  readonly members: readonly (MemberVector & { readonly until: string | null })[];
  readonly former: readonly (MemberVector & { readonly until: string })[];
  /** The last place that counts, for a reader of an export (§12.3); null: wherever the vault has come. */
  readonly upTo: { readonly generation: string; readonly after: string } | null;
}

export interface MemberVector {
  readonly address: string;
  readonly signingKey: string;
  readonly since: string;
  /** Milliseconds since 1970; null: never. */
  readonly endsAt: string | null;
}

export interface EntryCase {
  readonly name: string;
  readonly vault: string;
  readonly view: string;
  readonly kind: EntryKind;
  readonly id: string;
  readonly seen: SeenVector | null;
  readonly vaultKey: string;
  readonly statement: string;
  readonly metadata: string;
  readonly record: string | null;
  readonly expect: { readonly metadata: Metadata; readonly folderId: string | null } | Refusal;
}

export interface SeenVector {
  readonly number: string;
  readonly generation: string;
  readonly after: string;
  readonly hash: string;
}

export interface VersionCase {
  readonly name: string;
  /** What the reader knows. */
  readonly vault: string;
  readonly view: string;
  readonly fileId: string;
  readonly versionId: string | null;
  readonly seen: SeenVector | null;
  /** By name; what unwrapping the record's sealed key would give. */
  readonly vaultKey: string;
  /** What the service answers. */
  readonly statement: string;
  /** The entry that it shows with it; null: none. */
  readonly entry: string | null;
  readonly file: string;
  readonly expect: { readonly dataKey: string; readonly content: string } | Refusal;
}

export interface ExportCase {
  readonly name: string;
  /** What the reader knows. */
  readonly vault: string;
  readonly view: string;
  /** What the export holds. */
  readonly manifest: string;
  readonly statement: string;
  readonly expect:
    | { readonly signer: string; readonly generation: string; readonly after: string; readonly time: number }
    | Refusal;
}

export interface LadderCase {
  readonly name: string;
  readonly view: string;
  /** By name: the key that the reader has opened, and the record that it is said to be of. */
  readonly higherKey: string;
  readonly higher: string;
  readonly step: string;
  /** The record of the key that the reader wants. */
  readonly target: string;
  readonly expect: { readonly key: string } | Refusal;
}

/** All of them MUST be refused. */
export interface ForgedSignature {
  readonly name: string;
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}

export interface Refusal {
  readonly code: CryptoErrorCode;
  readonly step: CryptoStep;
}
