/** A new version: its key, its two statements, and the bytes that become its stored file. */
import {
  CHUNK_BYTES,
  comparePlaces,
  CryptoError,
  digestMessage,
  encryptFileBytes,
  makeEnvelope,
  makeUploadStatements,
  newFilePlan,
  parseVersionStatement,
  requireSiblings,
  seenVersion,
  verifyVersionStatement,
  type EntryStatement,
  type FilePlan,
  type Metadata,
  type Place,
  type VaultView,
  type VersionStatement,
} from "@coffer/crypto";
import { fromBase64, toBase64 } from "../../transfer/digest.ts";
import type { WireFile } from "../../storage/file.ts";
import { openSource } from "../../transfer/source.ts";
import type { EncodedBytes } from "../../transfer/upload-codec.ts";
import { readPlaintext, type Plaintext } from "./plaintext.ts";
import { EncryptedParts, PART_CHUNKS, type EncryptedPartsOptions } from "./encrypted-parts.ts";
import { openItem, placeOf, prepareEntry, toShared } from "../names/entries.ts";
import { viewNaming } from "../names/signer-view.ts";
import { generationMoved } from "../service-view.ts";
import type { OpenVault, WritingKey, WritingUse } from "../open-vault.ts";
import { partRecords, saveVersion, type SignedVersion } from "./version-journal.ts";
import { vaultError } from "../vault-error.ts";
import { DIGEST_BYTES, PART_BYTES, type UploadOptions } from "../../transfer/upload-options.ts";
import type { UploadJournal } from "../../transfer/journals.ts";

/** The result of an upload: a file, or a version of one. */
export type SharedUploadTarget =
  | {
      readonly kind: "file";
      readonly name: string;
      readonly folderId?: string | undefined;
      readonly contentType?: string | undefined;
      readonly ifAbsent?: boolean | undefined;
    }
  | {
      readonly kind: "version";
      readonly file: WireFile;
      readonly contentType?: string | undefined;
      /** See `ConditionOptions`; the state that this call has read is `file`. */
      readonly ifMatch?: string | undefined;
      /** The kept version whose content it is. */
      readonly restores?: string | undefined;
      /** The name that it brings along. Absent: that of before. */
      readonly name?: string | undefined;
      /** The folder that it brings the file to; null: the top of the vault. Absent: that of before. */
      readonly folderId?: string | null | undefined;
      /** true: the bytes wait for a commit. */
      readonly isHeld?: boolean | undefined;
    };

/** A version and its stored bytes. */
export interface EncodedVersion {
  readonly version: SignedVersion;
  readonly bytes: EncodedBytes;
}

export interface VersionOptions extends Pick<UploadOptions, "signal" | "padded" | "partBytes"> {
  readonly writing: WritingKey;
  /** What the version follows. null: a new file. */
  readonly before: Before | null;
  /** Keeps the version over a crash. null: nothing does. */
  readonly journal: UploadJournal | null;
  /** Gets the place of the version. Runs before the last of several parts is made. */
  readonly beforeEnd: (place: Place) => Promise<void>;
}

/**
 * Makes a version of the content under the vault's current key: signs both of its statements, and gives the bytes as
 * they are read. If there is a journal, it holds the version before this resolves.
 */
export async function createVersion(
  vault: OpenVault,
  view: VaultView,
  content: Plaintext,
  target: SharedUploadTarget,
  { writing, before, journal, signal, padded = false, partBytes, beforeEnd }: VersionOptions,
): Promise<EncodedVersion> {
  const fileId = target.kind === "file" ? crypto.randomUUID() : target.file.id;
  const plan = await newFilePlan(vault.platform, {
    fileId,
    versionId: crypto.randomUUID(),
    contentSize: content.size,
    padded,
    envelopeOf: (request) => makeEnvelope(vault.platform, writing.record, writing.key, request),
  });
  const partChunks = partChunksOf(partBytes);
  const { bytes, digest } = await encrypt(vault, plan, content, {
    signal,
    partChunks,
    records: journal === null ? undefined : partRecords(journal),
    beforeEnd: () => beforeEnd(writing.record),
  });
  const signed = await sign(vault, view, target, { before, writing, fileId, plan, digest, size: content.size });
  const version = { ...signed, partChunks };
  if (journal !== null) await saveVersion(journal, version);
  return { version, bytes };
}

/** A new version is stored under the name of before, and its content may be an old one: both are encrypted again. */
export function useOf(target: SharedUploadTarget): WritingUse {
  return target.kind === "file" ? "new" : "again";
}

/** Parts follow the upload's part size, so that a part sent is a part kept. */
function partChunksOf(partBytes: number | undefined): number {
  return Math.min(Math.max(Math.floor((partBytes ?? PART_BYTES) / CHUNK_BYTES), 1), PART_CHUNKS);
}

interface Encrypted {
  readonly bytes: EncodedBytes;
  /** null: not computed. */
  readonly digest: Uint8Array | null;
}

async function encrypt(
  { platform }: OpenVault,
  plan: FilePlan,
  content: Plaintext,
  options: EncryptedPartsOptions,
): Promise<Encrypted> {
  const { signal } = options;
  signal?.throwIfAborted();
  if (content.bytes !== null) {
    const { bytes, digest } = await encryptFileBytes(platform, plan, content.bytes);
    return { digest, bytes: openSource(bytes) };
  }
  const all = () => readPlaintext(content.source, 0, content.size);
  const digest =
    content.rereadable && content.size <= DIGEST_BYTES ? await digestMessage(platform, plan, all(), signal) : null;
  return { digest, bytes: new EncryptedParts(platform, plan, content.source, { ...options, digest }) };
}

interface ToSign {
  readonly before: Before | null;
  readonly writing: WritingKey;
  readonly fileId: string;
  readonly plan: FilePlan;
  readonly digest: Uint8Array | null;
  /** Bytes of the content. */
  readonly size: number;
}

/** Both statements, under one signature: a new version carries a new entry too, because the metadata names the content's size. */
async function sign(
  vault: OpenVault,
  view: VaultView,
  target: SharedUploadTarget,
  { before, writing, fileId: id, plan, digest, size }: ToSign,
): Promise<Omit<SignedVersion, "partChunks">> {
  // A client that has seen later statements there accepts none of an earlier place. Note the place now: the next
  // attempt has its key.
  for (const each of before === null ? [] : [before.version, before.entry])
    if (comparePlaces(writing.record, each) < 0) throw generationMoved();
  const name = target.name ?? before?.metadata.name ?? "";
  const contentType = target.contentType ?? before?.metadata.contentType ?? "application/octet-stream";
  const folderId = before === null || target.folderId !== undefined ? folderOf(target) : before.entry.folderId;
  const metadata = { name, contentType, size };
  const wanted = { kind: "file", id, folderId, metadata, previous: before?.entry ?? null } as const;
  const prepared = await prepareEntry(vault, view, writing, wanted);
  const content = {
    record: writing.record,
    header: plan.header,
    envelope: plan.envelope,
    commitment: plan.keys.commitment,
    messageLength: plan.messageSize ?? 0,
    digest,
    previous: before?.version ?? null,
    time: prepared.unsigned.time,
  };
  const { version, entry } = await makeUploadStatements(view, await vault.author(view), content, prepared.unsigned);
  const shared = { version: toBase64(version.bytes), ...toShared(prepared, entry) };
  return { plan, statement: version, entry, name, contentType, shared };
}

/** The verified state of a file that a new version follows. */
export interface Before {
  readonly version: VersionStatement;
  readonly entry: EntryStatement;
  readonly metadata: Metadata;
}

/** The replaced version, verified: the new statement names it. */
export async function readBefore(vault: OpenVault, file: WireFile): Promise<Before> {
  const version = await readCurrent(vault, file);
  const { statement, metadata } = await openItem(vault, "file", file, placeOf(file));
  requireSiblings(version, statement);
  vault.seen.recordVersion(file.id, seenVersion(version));
  return { version, entry: statement, metadata };
}

/** The version that the service shows as the current one, verified. */
export async function readCurrent(vault: OpenVault, file: WireFile): Promise<VersionStatement> {
  const bytes = fromBase64(file.shared?.version ?? "");
  if (file.shared === null || bytes === null)
    throw vaultError("not_encrypted", `The service shows file ${file.id} of a shared vault without its statement`);
  const view = await viewNaming((wanted) => vault.view(wanted), [parseVersionStatement(bytes)]);
  const version = await verifyVersionStatement(
    { vault: vault.objectId, view, seen: vault.seen.version(file.id) },
    bytes,
  );
  if (version.fileId !== file.id)
    throw new CryptoError("damaged", "ids", "the version statement is of another file than the one to be replaced");
  return version;
}

/** The folder that the file will be in; null: at the top of the vault. */
export function folderOf(target: SharedUploadTarget): string | null {
  if (target.kind === "file") return target.folderId ?? null;
  return target.folderId === undefined ? target.file.folderId : target.folderId;
}
