/** TEST ONLY: statements as clients sign them, byte by byte from the file format (§7, §8) and not from the contract's layouts. */
import { createPrivateKey, hash, randomBytes, sign } from "node:crypto";
import { blake2b } from "@noble/hashes/blake2.js";
import type { TestSigner } from "../chain-proofs/signer.test-kit.ts";

type Signer = Pick<TestSigner, "seed" | "chainAddress">;

export interface RecordToSign {
  readonly vault: string;
  readonly generation: number;
  /** Milliseconds since 1970. */
  readonly after?: number;
  readonly creator?: string;
  readonly sealedKey?: Uint8Array;
  /** 32 bytes; which key it is of. */
  readonly check?: Uint8Array;
  /** The key's maker; absent: the creator. */
  readonly maker?: Signer;
}

const CHECK = Buffer.alloc(32, 7);

/** Base64. Without a sealed key every record is another one. */
export function signRecord(signer: Signer, record: RecordToSign): string {
  const {
    vault,
    generation,
    after = 0,
    creator = signer.chainAddress,
    sealedKey = randomBytes(300),
    check = CHECK,
    maker = { ...signer, chainAddress: creator },
  } = record;
  const place = [hex(vault), integer(generation), integer(after)];
  const making = Buffer.from(
    signed(maker, "coffer/vault-key-made/v1", [...place, hex(maker.chainAddress), check]),
    "base64",
  );
  return signed(signer, "coffer/vault-key/v1", [
    ...[...place, hex(creator), check, hex(maker.chainAddress), making.subarray(-64)],
    ...[integer(sealedKey.length, 2), sealedKey],
  ]);
}

export interface VersionToSign {
  readonly vault: string;
  readonly fileId: string;
  readonly versionId: string;
  /** The first 44 bytes of the file; made from the ids when absent. */
  readonly header?: Uint8Array;
  /** SHA-256 of header and envelope in hex. */
  readonly startDigest?: string;
  readonly sequence?: number;
  /** The signed statement before (base64). */
  readonly previous?: string;
  readonly generation: number;
  /** Milliseconds since 1970. */
  readonly after?: number;
  readonly keyId: string;
  readonly messageLength?: number;
  /** SHA-256 of the message in hex. */
  readonly messageDigest?: string;
  readonly signer?: string;
  readonly time?: number;
}

export function signVersion(signer: Signer, version: VersionToSign): string {
  const { startDigest = ZEROS, messageDigest = ZEROS, sequence = 1, messageLength = 72, time = 1 } = version;
  return signed(signer, "coffer/version/v1", [
    ...[hex(version.vault), version.header ?? headerOf(version), hex(startDigest), integer(sequence)],
    ...[
      previousOf(version),
      integer(version.generation),
      integer(version.after ?? 0),
      hex(version.keyId),
      Buffer.alloc(32, 9),
    ],
    ...[integer(messageLength), hex(messageDigest), hex(version.signer ?? signer.chainAddress), integer(time)],
  ]);
}

/** The first 44 of the 48 bytes that an encrypted file begins with (file-format §4): magic, version, suite, flags, ids. */
export function headerOf({ fileId, versionId }: { readonly fileId: string; readonly versionId: string }): Uint8Array {
  const magic = [0x93, 0x43, 0x46, 0x52, 0x0d, 0x0a, 0x1a, 0x0a];
  return Buffer.concat([Uint8Array.from([...magic, 1, 2, 0, 0]), hex(fileId), hex(versionId)]);
}

export interface EntryToSign {
  readonly vault: string;
  readonly kind: "file" | "folder";
  readonly id: string;
  readonly revision?: number;
  /** The signed statement before (base64). */
  readonly previous?: string;
  readonly generation: number;
  /** Milliseconds since 1970. */
  readonly after?: number;
  readonly keyId?: string;
  readonly folderId?: string | null;
  /** Base64. */
  readonly metadata: string;
  readonly signer?: string;
  readonly time?: number;
}

export function signEntry(signer: Signer, entry: EntryToSign): string {
  const { revision = 1, keyId = ZEROS, folderId = null, time = 1 } = entry;
  const metadataDigest = hash("sha256", Buffer.from(entry.metadata, "base64"), "hex");
  return signed(signer, "coffer/entry/v1", [
    ...[hex(entry.vault), Uint8Array.of(entry.kind === "file" ? 1 : 2), hex(entry.id), integer(revision)],
    ...[
      previousOf(entry),
      integer(entry.generation),
      integer(entry.after ?? 0),
      hex(keyId),
      hex(folderId ?? "0".repeat(32)),
      hex(metadataDigest),
    ],
    ...[hex(entry.signer ?? signer.chainAddress), integer(time)],
  ]);
}

/** The same two statements under one signature, in place of their former ones. */
export function signTogether(
  signer: Signer,
  alone: { readonly version: string; readonly entry: string },
): { readonly version: string; readonly entry: string } {
  const [version, entry] = [fieldsOf(alone.version, 308), fieldsOf(alone.entry, 225)];
  const [dv, de] = [digestOfFields("coffer/version/v1", version), digestOfFields("coffer/entry/v1", entry)];
  const signature = Buffer.from(signed(signer, "coffer/upload/v1", [dv, de]), "base64").subarray(64);
  return {
    version: Buffer.concat([version, de, signature]).toString("base64"),
    entry: Buffer.concat([entry, dv, signature]).toString("base64"),
  };
}

function fieldsOf(statement: string, length: number): Buffer {
  return Buffer.from(statement, "base64").subarray(0, length);
}

/** The sibling's content: SHA-256 of title, a zero byte, and the fields. */
export function digestOfFields(title: string, fields: Uint8Array): Buffer {
  return hash("sha256", Buffer.concat([Buffer.from(`${title}\0`), fields]), "buffer");
}

/** SHA-256 of a base64 text's bytes in hex: a record's id, and what follows a statement. */
export function digestOfBase64(text: string): string {
  return hash("sha256", Buffer.from(text, "base64"), "hex");
}

const ZEROS = "0".repeat(64);

function previousOf({ previous }: { readonly previous?: string }): Uint8Array {
  return hex(previous === undefined ? ZEROS : digestOfBase64(previous));
}

/** RFC 8410 §7: PKCS #8 of a seed. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

function signed({ seed }: Signer, title: string, parts: readonly Uint8Array[]): string {
  const body = Buffer.concat(parts);
  const message = Buffer.concat([Buffer.from(`${title}\0`), body]);
  const { length: size } = message;
  const length = size < 0x80 ? [size] : [(size & 0x7f) | 0x80, size >> 7];
  const digest = blake2b(Buffer.concat([Uint8Array.from([3, 0, 0, ...length]), message]), { dkLen: 32 });
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  return Buffer.concat([body, sign(null, digest, key)]).toString("base64");
}

/** Bytes of an address, a UUID or plain hex. */
function hex(text: string): Uint8Array {
  return Buffer.from(text.replace(/^0x|-/g, ""), "hex");
}

function integer(value: number, bytes = 8): Uint8Array {
  return Buffer.from(value.toString(16).padStart(bytes * 2, "0"), "hex");
}
