/** Uploads into shared vaults: encrypted and signed here, then sent as any other upload. */
import type { SharedFile } from "@coffer/contract";
import {
  digestMessage,
  encryptFile,
  makeEnvelope,
  makeVersionStatement,
  newFilePlan,
  parseVersionStatement,
  seenVersion,
  verifyVersionStatement,
  type EntryStatement,
  type CryptoPlatform,
  type FilePlan,
  type Metadata,
  type VaultView,
  type VersionStatement,
} from "@coffer/crypto";
import { fromBase64, toBase64, toHex } from "../digest.ts";
import { ApiError, ContractError } from "../errors.ts";
import type { File } from "../file.ts";
import type { Connection } from "../options.ts";
import { openSource, type Source } from "../upload/source.ts";
import type { Target, UploadResult } from "../upload/target.ts";
import { uploadSource, type UploadOptions } from "../upload/upload.ts";
import { encryptedSource } from "./encrypted-source.ts";
import { makeEntry, openItem, placeOf } from "./entries.ts";
import type { OpenVault, WritingKey } from "./open-vault.ts";
import { stageFolder } from "./staging.ts";
import { inVaultTerms, VaultError } from "./vault-error.ts";

/** Up to this size a first pass over the content makes the digest of the version statement (encryption design §1). Bytes. */
const DIGEST_BYTES = 64 * 1024 * 1024;
/** Content up to this size is encrypted in memory: one pass makes digest and bytes. */
const MEMORY_BYTES = 4 * 1024 * 1024;
/** How often an upload begins anew with a new key because the vault's generation moved, or its folder's names. */
const ATTEMPTS = 4;

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
      readonly file: File;
      readonly contentType?: string | undefined;
      readonly ifMatch?: string | undefined;
    };

/**
 * The plaintext is read once, or twice below 64 MiB; a source that can be read once only is not tried again when the vault changes under it.
 * Closes the source.
 * @throws VaultError `generation_moved` and `names_outdated` only when they keep coming.
 */
export async function uploadShared(
  connection: Connection,
  vault: OpenVault,
  target: SharedUploadTarget,
  source: Source,
  options: UploadOptions & { readonly padded?: boolean | undefined } = {},
): Promise<UploadResult> {
  try {
    return await inVaultTerms(async () => {
      const content = await sized(source, vault.platform, options.partBytes);
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await uploadOnce(connection, vault, target, content, options);
        } catch (error) {
          if (attempt >= ATTEMPTS || !content.rereadable) throw error;
          await prepareAgain(connection, vault, target, error);
        }
      }
    });
  } finally {
    await source.close();
  }
}

interface Content {
  readonly source: HashedSource;
  readonly size: number;
  /** Can be read from the beginning again. */
  readonly rereadable: boolean;
}

/** A stream of unknown size is taken up to one part; more needs its size, because a signed statement names it. */
async function sized(source: Source, platform: CryptoPlatform, partBytes = MEMORY_BYTES): Promise<Content> {
  if (source.size !== null && source.size > MEMORY_BYTES)
    return { source: hashed(source, platform), size: source.size, rereadable: source.rereadable === true };
  const buffer = new Uint8Array((source.size ?? partBytes) + 1);
  const filled = await source.read(0, buffer);
  if (source.size === null && filled === buffer.length)
    throw new ContractError("request", "files.upload", ["size: needed for a stream above one part in a shared vault"]);
  if (source.size !== null && filled !== source.size)
    throw new VaultError("source_changed", `The source has not the ${String(source.size)} bytes that were said`);
  const memory = openSource(buffer.subarray(0, filled), undefined);
  return { source: hashed(memory, platform), size: filled, rereadable: true };
}

/** A source that has counted and hashed what was read of it, from the beginning forward. */
interface HashedSource extends Source {
  /** SHA-256 of the content, once it was read to its end. */
  digest(): Uint8Array;
}

function hashed(source: Source, platform: CryptoPlatform): HashedSource {
  const hash = platform.createSha256();
  let position = 0;
  let digest: Uint8Array | null = null;
  return {
    ...source,
    read: async (offset, target) => {
      const filled = await source.read(offset, target);
      // A second pass, and what is read again after a failure, was hashed before.
      if (offset <= position && offset + filled > position) {
        hash.update(target.subarray(position - offset, filled));
        position = offset + filled;
      }
      return filled;
    },
    digest: () => (digest ??= hash.digest()),
  };
}

/** Throws what is not cured by another try. */
async function prepareAgain(
  connection: Connection,
  vault: OpenVault,
  target: SharedUploadTarget,
  error: unknown,
): Promise<void> {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "generation_moved") {
    await vault.view({ maxAge: 0 });
    return;
  }
  if (error.code !== "names_outdated") throw error;
  await stageFolder(connection, vault, folderOf(target));
}

function folderOf(target: SharedUploadTarget): string | null {
  return target.kind === "file" ? (target.folderId ?? null) : target.file.folderId;
}

async function uploadOnce(
  connection: Connection,
  vault: OpenVault,
  target: SharedUploadTarget,
  content: Content,
  options: UploadOptions & { readonly padded?: boolean | undefined },
): Promise<UploadResult> {
  const view = await vault.view();
  const writing = await vault.writingKey(view);
  const ids = { fileId: target.kind === "file" ? crypto.randomUUID() : target.file.id, versionId: crypto.randomUUID() };
  const plan = await newFilePlan(vault.platform, {
    ...{ ...ids, contentSize: content.size, padded: options.padded ?? false },
    envelopeOf: (request) => makeEnvelope(vault.platform, writing.record, writing.key, request),
  });
  const encrypted = await encrypt(vault, plan, content, options.signal);
  const before = target.kind === "file" ? null : await readBefore(vault, target.file);
  const version = await makeVersionStatement(view, await vault.author(), {
    ...{ record: writing.record, header: plan.header, envelope: plan.envelope, commitment: plan.keys.commitment },
    ...{
      messageLength: plan.messageSize ?? 0,
      digest: encrypted.digest,
      previous: before?.version ?? null,
      time: Date.now(),
    },
  });
  const entry = await makeFileEntry(vault, view, writing, target, ids.fileId, content.size, before);
  const shared: SharedFile = { version: toBase64(version.bytes), ...entry };
  // The service refuses an older generation; asking first spares the bytes (encryption design §2, writing).
  await requireGeneration(vault, view);
  const place = targetOf(vault, target, shared, view.plainNames);
  const { file } = await uploadSource(connection, place, encrypted.source, { ...options, idempotencyKey: undefined });
  vault.seen.noteVersion(ids.fileId, seenVersion(version));
  return describe(file, target, content);
}

interface Encrypted {
  readonly source: Source;
  /** null: not computed. */
  readonly digest: Uint8Array | null;
}

async function encrypt(vault: OpenVault, plan: FilePlan, content: Content, signal?: AbortSignal): Promise<Encrypted> {
  const { platform } = vault;
  if (content.size > MEMORY_BYTES) {
    const digest =
      content.rereadable && content.size <= DIGEST_BYTES
        ? await digestMessage(platform, plan, readAll(content), signal)
        : null;
    return { digest, source: encryptedSource(platform, plan, content.source, { signal }) };
  }
  const bytes = new Uint8Array(plan.fileSize ?? 0);
  const digest = platform.createSha256();
  let filled = 0;
  for await (const piece of encryptFile(plan, readAll(content), {
    digest,
    ...(signal === undefined ? {} : { signal }),
  })) {
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return { digest: digest.digest(), source: openSource(bytes, undefined) };
}

async function* readAll({ source, size }: Content): AsyncGenerator<Uint8Array, void, undefined> {
  for (let offset = 0; offset < size;) {
    const piece = new Uint8Array(Math.min(1024 * 1024, size - offset));
    const filled = await source.read(offset, piece);
    if (filled === 0) return;
    yield piece.subarray(0, filled);
    offset += filled;
  }
}

interface Before {
  readonly version: VersionStatement;
  readonly entry: EntryStatement;
  readonly metadata: Metadata;
}

/** The version that is replaced, verified: the new statement names it. */
async function readBefore(vault: OpenVault, file: File): Promise<Before> {
  const bytes = fromBase64(file.shared?.version ?? "");
  if (file.shared === null || bytes === null)
    throw new VaultError("not_encrypted", `The service shows file ${file.id} of a shared vault without its statement`);
  const { generation } = parseVersionStatement(bytes);
  const view = await vault.view({ hintedGeneration: generation });
  const version = await verifyVersionStatement(
    { vault: vault.objectId, view, seen: vault.seen.version(file.id) },
    bytes,
  );
  const { statement, metadata } = await openItem(vault, "file", file, placeOf(file));
  return { version, entry: statement, metadata };
}

/** A new version carries a new entry too: the metadata names the content's size. */
function makeFileEntry(
  vault: OpenVault,
  view: VaultView,
  writing: WritingKey,
  target: SharedUploadTarget,
  id: string,
  size: number,
  before: Before | null,
) {
  const name = target.kind === "file" ? target.name : (before?.metadata.name ?? "");
  const contentType = target.contentType ?? before?.metadata.contentType ?? "application/octet-stream";
  const wanted = { kind: "file", id, folderId: folderOf(target), metadata: { name, contentType, size } } as const;
  return makeEntry(vault, view, writing, { ...wanted, previous: before?.entry ?? null });
}

async function requireGeneration(vault: OpenVault, view: VaultView): Promise<void> {
  const now = await vault.view();
  if (now.generation === view.generation) return;
  throw new ApiError("generation_moved", "The vault has a newer generation", {
    status: 409,
    requestId: null,
    retryAfterMs: null,
  });
}

/** The name is told only where names are plain. */
function targetOf(vault: OpenVault, target: SharedUploadTarget, shared: SharedFile, plainNames: boolean): Target {
  if (target.kind === "version") return { kind: "version", fileId: target.file.id, ifMatch: target.ifMatch, shared };
  const { folderId, ifAbsent, name } = target;
  return { kind: "file", name: plainNames ? name : null, vaultId: vault.id, folderId, ifAbsent, shared };
}

/** As its members see it: bytes and digest of the content, which this client alone has counted. */
function describe(file: File, target: SharedUploadTarget, { source, size }: Content): UploadResult {
  const name = target.kind === "file" ? target.name.normalize("NFC") : target.file.name;
  const contentType =
    target.contentType ?? (target.kind === "file" ? "application/octet-stream" : target.file.contentType);
  return {
    file: { ...file, name, contentType, size, storedSize: file.size },
    ...{ bytes: size, sha256: toHex(source.digest()) },
  };
}
