/** The vectors of file-format §6 to §10: made here, committed as file-format/statements.json, read by any implementation. */
import {
  ed25519StatementSigner,
  encodeMetadata,
  encodePaddedMetadata,
  nameIndex,
  plainNameIndex,
  statementDigest,
  signStatement,
  type EntryKind,
  type Metadata,
  type SignedTitle,
  type VaultView,
} from "@coffer/crypto";
import { base64, FILE_ID, FOLDER_ID, KEYS, PEOPLE, VIEWS, bytesOf, type Person } from "./statement-fixture.ts";
import { makeExportCases, type ExportCase } from "./export-cases.ts";
import { makeEntryCases, makeVersionCases, type EntryCase, type VersionCase } from "./statement-cases.ts";
import { forgedSignatures, type ForgedSignature } from "./forged-signatures.ts";

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
  readonly views: Readonly<Record<string, unknown>>;
  readonly versions: readonly VersionCase[];
  readonly entries: readonly EntryCase[];
  readonly exports: readonly ExportCase[];
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
  readonly key: string;
  readonly wrap: string;
  readonly metadata: string;
  readonly nameIndex: string;
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

export async function makeStatementVectors(): Promise<StatementVectors> {
  return {
    about: [
      "Vectors for sections 6 to 10 and 12 of docs/spec/file-format.md. Bytes are base64; integers of 64 bits are decimal texts.",
      "Sealed keys in the records are placeholders: unwrapping one is given by the case's vaultKey.",
      "A case's view is what the chain says; vault, ids and seen are what the reader knows; the rest is the service's answer.",
    ],
    people: Object.entries(PEOPLE).map(([name, person]) => personVector(name, person)),
    vaultKeys: Object.entries(KEYS).map(([name, key]) => ({
      name,
      generation: String(key.generation),
      key: base64(key.reveal()),
      wrap: base64(key.subkey("wrap")),
      metadata: base64(key.subkey("metadata")),
      nameIndex: base64(key.subkey("name-index")),
      check: base64(key.subkey("check")),
    })),
    signatures: await Promise.all(SIGNED.map(signatureVector)),
    forgedSignatures: await forgedSignatures(PEOPLE.member.seed),
    metadata: METADATA.map(([kind, metadata]) => ({
      kind,
      metadata,
      encoded: base64(encodeMetadata(kind, metadata)),
      padded: base64(encodePaddedMetadata(kind, metadata)),
    })),
    refusedMetadata: REFUSED_METADATA.map(([name, kind, hex]) => ({
      name,
      kind,
      encoded: base64(Buffer.from(hex, "hex")),
    })),
    nameIndexes: NAMES.map(([folderId, name]) => ({
      vaultKey: "generation 5",
      folderId,
      name,
      index: base64(nameIndex(KEYS["generation 5"], folderId, name)),
      plainIndex: base64(plainNameIndex(folderId, name)),
    })),
    views: Object.fromEntries(Object.entries(VIEWS).map(([name, view]) => [name, viewVector(view)])),
    versions: await makeVersionCases(),
    entries: await makeEntryCases(),
    exports: await makeExportCases(),
  };
}

function personVector(name: string, { address, seed, signer }: Person): PersonVector {
  return { name, address: base64(address), seed: base64(seed), publicKey: base64(signer.publicKey) };
}

const SIGNED: readonly (readonly [SignedTitle, Uint8Array])[] = [
  ["coffer/vault-key/v1", bytesOf("", 0)],
  ["coffer/vault-key/v1", bytesOf("a record", 505)],
  ["coffer/version/v1", bytesOf("a version", 300)],
  // 109 and 110 bytes: with title and zero 127 and 128, where the BCS length becomes two bytes.
  ["coffer/version/v1", bytesOf("a short one", 109)],
  ["coffer/version/v1", bytesOf("a longer one", 110)],
  ["coffer/entry/v1", bytesOf("an entry", 217)],
  ["coffer/export/v1", bytesOf("an export", 112)],
];

async function signatureVector([title, body]: (typeof SIGNED)[number]): Promise<SignatureVector> {
  const signature = await signStatement(title, body, ed25519StatementSigner(PEOPLE.member.seed));
  const digest = base64(statementDigest(title, body));
  return { title, body: base64(body), person: "member", digest, signature: base64(signature) };
}

const METADATA: readonly (readonly [EntryKind, Metadata])[] = [
  ["file", { name: "a", contentType: "a/b", size: 0 }],
  ["file", { name: "Bericht für März.pdf", contentType: "application/pdf", size: 123_456 }],
  ["file", { name: "n".repeat(255), contentType: "t".repeat(245), size: Number.MAX_SAFE_INTEGER }],
  ["folder", { name: "写真 📷", contentType: "", size: 0 }],
];

/** Hex: version, length, name, length, content type, size. */
const REFUSED_METADATA: readonly (readonly [string, EntryKind, string])[] = [
  ["another version", "file", "02 0001 61 03 612f62 0000000000000001"],
  ["an empty name", "file", "01 0000 03 612f62 0000000000000001"],
  ["a name that is not in NFC", "file", "01 0003 65cc81 03 612f62 0000000000000001"],
  ["a name that is not UTF-8", "file", "01 0002 c0ae 03 612f62 0000000000000001"],
  ["the name ..", "file", "01 0002 2e2e 03 612f62 0000000000000001"],
  ["a name with a path separator", "file", "01 0003 612f62 03 612f62 0000000000000001"],
  ["a file without content type", "file", "01 0001 61 00 0000000000000001"],
  ["a folder with a content type", "folder", "01 0001 61 03 612f62 0000000000000000"],
  ["a folder with a size", "folder", "01 0001 61 00 0000000000000001"],
  ["a size of 2^53", "file", "01 0001 61 03 612f62 0020000000000000"],
  ["a size of 4 bytes", "file", "01 0001 61 03 612f62 00000001"],
  ["a byte more", "file", "01 0001 61 03 612f62 0000000000000001 00"],
].map(([name, kind, hex]) => [name, kind, hex?.replaceAll(" ", "")] as [string, EntryKind, string]);

const NAMES: readonly (readonly [string | null, string])[] = [
  [null, "a"],
  [FOLDER_ID, "a"],
  [FILE_ID, "A"],
  [null, "e\u0301"],
  [null, "\u00e9"],
];

function viewVector({ floor, former, generation, members, owner, plainNames, vault }: VaultView): unknown {
  const entry = ({ address, signingKey, since }: VaultView["owner"]) => ({
    address: base64(address),
    signingKey: base64(signingKey),
    since: String(since),
  });
  return {
    vault: base64(vault),
    generation: String(generation),
    floor: String(floor),
    plainNames,
    owner: entry(owner),
    members: members.map(entry),
    former: former.map((one) => ({ ...entry(one), until: String(one.until) })),
  };
}
