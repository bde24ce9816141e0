/** Uploads into shared vaults: encrypted and signed here, then sent as any other upload. */
import { clientApi as api, nameProblem, type SharedFile } from "@coffer/contract";
import {
  CHUNK_BYTES,
  CryptoError,
  digestMessage,
  encryptFile,
  makeEnvelope,
  makeVersionStatement,
  newFilePlan,
  parseHeader,
  parseVersionStatement,
  seenVersion,
  verifyVersionStatement,
  type EntryStatement,
  type FilePlan,
  type Metadata,
  type VaultView,
  type VersionStatement,
} from "@coffer/crypto";
import type { ReadOptions } from "@coffer/chain";
import { callOn } from "../call.ts";
import { fromBase64, toBase64, toHex } from "../digest.ts";
import { ApiError, ContractError, SdkError } from "../errors.ts";
import type { File } from "../file.ts";
import type { Connection } from "../options.ts";
import { endUpload } from "../upload/resumable.ts";
import { openSource, type Source } from "../upload/source.ts";
import type { Target, UploadResult } from "../upload/target.ts";
import { PART_BYTES, uploadSource, type UploadOptions } from "../upload/upload.ts";
import { openContent, readContent, type Content } from "./content.ts";
import { encryptedSource, PART_CHUNKS, type EncryptedSourceOptions } from "./encrypted-source.ts";
import { makeEntry, noteOwnEntry, openItem, placeOf } from "./entries.ts";
import { viewNaming } from "./naming-view.ts";
import type { OpenVault, WritingKey } from "./open-vault.ts";
import { stageFolder } from "./staging.ts";
import { keepVersion, partJournal, reopenVersion, type BegunVersion, type UploadJournal } from "./upload-journal.ts";
import { inVaultTerms, VaultError } from "./vault-error.ts";

/** Up to this size a first pass over the content makes the digest of the version statement (encryption design §1). Bytes. */
const DIGEST_BYTES = 64 * 1024 * 1024;
/** How often an upload begins anew with a new key, because the vault, the folder's names or the file changed under it. */
const ATTEMPTS = 5;

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

export type SharedUploadOptions = UploadOptions & {
  /** Keeps the upload over a crash. */
  readonly journal?: UploadJournal | undefined;
};

/** One upload and what all of its attempts have in common. */
interface Upload {
  readonly connection: Connection;
  readonly vault: OpenVault;
  readonly content: Content;
  readonly options: SharedUploadOptions;
}

/**
 * The plaintext is read once, or twice below 64 MiB; a source that can be read once only is not tried again when the vault changes under it.
 * With a journal what an earlier process began is gone on with, when content and vault are still the same. Closes the source.
 * @throws VaultError `signing_key_missing`, `not_a_member`, `source_changed`; ApiError `generation_moved` and `names_outdated` only when they
 * keep coming.
 */
export async function uploadShared(
  connection: Connection,
  vault: OpenVault,
  target: SharedUploadTarget,
  source: Source,
  options: SharedUploadOptions = {},
): Promise<UploadResult> {
  try {
    return await inVaultTerms(async () => {
      requireName(target);
      // Before anything is read: whoever cannot sign cannot write.
      await vault.author();
      const content = await openContent(source, vault.platform, options.journal !== undefined);
      return uploadOften({ connection, vault, content, options }, target);
    });
  } finally {
    await source.close();
  }
}

function requireName(target: SharedUploadTarget): void {
  const problem = target.kind === "file" ? nameProblem(target.name) : null;
  if (problem !== null) throw new ContractError("request", api.files.upload.id, [`name: ${problem}`]);
}

async function uploadOften(upload: Upload, target: SharedUploadTarget): Promise<UploadResult> {
  const { content, options } = upload;
  for (let attempt = 1; ; attempt += 1) {
    const resumed = options.journal?.kept != null;
    try {
      return await uploadOnce(upload, attempt === 1 ? target : await readAgain(upload, target));
    } catch (error) {
      if (attempt >= ATTEMPTS || !content.rereadable) throw error;
      await prepareAgain(upload, target, error, resumed);
    }
  }
}

/** Throws what is not cured by another try. What was begun is given up: the next attempt has another key. */
async function prepareAgain(
  upload: Upload,
  target: SharedUploadTarget,
  error: unknown,
  resumed: boolean,
): Promise<void> {
  const { connection, vault } = upload;
  const code = error instanceof SdkError || error instanceof CryptoError ? error.code : null;
  if (code === "generation_moved") await vault.view({ maxAge: 0 });
  else if (code === "names_outdated") await stageFolder(connection, vault, folderOf(target));
  // Somebody else's version or vault key came first: both are read again.
  else if (code === "statement_invalid") vault.forgetWritingKey();
  // The source is another one than when an earlier process began: nothing of this one was sent yet.
  else if (code !== "source_changed" || !resumed) throw error;
  await giveUp(upload);
}

async function giveUp({ connection, options: { journal } }: Upload): Promise<void> {
  const uploadId = await journal?.discard();
  if (uploadId != null) await endUpload(connection, uploadId);
}

/** A condition was of the version that was there before: a newer one does not meet it, also where the service would let that pass. */
async function readAgain({ connection, options }: Upload, target: SharedUploadTarget): Promise<SharedUploadTarget> {
  if (target.kind === "file") return target;
  const { file: before, ifMatch = "*" } = target;
  const params = { fileId: before.id };
  const { file } = await callOn(connection, api.files.get, { params }, { signal: options.signal });
  if (ifMatch !== "*" && file.shared?.version !== before.shared?.version)
    throw refused("precondition_failed", 412, "The file has a newer version");
  // Under the id that was asked for, to which both statements are held: another file's are refused then.
  return { ...target, file: { ...file, id: before.id } };
}

function folderOf(target: SharedUploadTarget): string | null {
  return target.kind === "file" ? (target.folderId ?? null) : target.file.folderId;
}

async function uploadOnce(upload: Upload, target: SharedUploadTarget): Promise<UploadResult> {
  const { connection, vault, content, options } = upload;
  // Much to send, or much that was sent: worth a question to the chain.
  const fresh = content.inMemory ? {} : { maxAge: 0 };
  const view = await vault.view(options.journal?.kept == null ? {} : fresh);
  const sending = (await resume(upload, view)) ?? (await begin(upload, view, target));
  const { begun } = sending;
  // The service refuses an older generation; asking first spares the bytes (encryption design §2, writing).
  await requireGeneration(vault, view, fresh);
  const place = targetOf(vault, target, begun.shared, view.plainNames);
  const { journal, ...plain } = { ...options, idempotencyKey: undefined };
  const { file } = await uploadSource(connection, place, sending.source, plain, journal);
  if (file.id !== parseHeader(begun.plan.header).fileId)
    throw new VaultError("damaged", `The service answers with file ${file.id}, which is not the one that was sent`, {
      step: "ids",
    });
  vault.seen.noteVersion(file.id, seenVersion(begun.statement));
  noteOwnEntry(vault, file.id, begun.shared);
  return describe(file, begun, content);
}

interface Sending {
  readonly begun: BegunVersion;
  readonly source: Source;
}

/** What an earlier process began; null: nothing that can be gone on with, and what there was is given up. */
async function resume(upload: Upload, view: VaultView): Promise<Sending | null> {
  const { vault, content, options } = upload;
  const { journal, signal } = options;
  if (journal === undefined) return null;
  const found = await reopenVersion(vault, journal, view.generation);
  // A session without its plan must go too: it holds bytes of another version.
  if (found === null && journal.kept === null && journal.uploadId === null) return null;
  if (found === null || !isWanted(found.begun.plan, upload)) {
    await giveUp(upload);
    return null;
  }
  const { begun, parts } = found;
  const { digest } = begun.statement;
  const source = encryptedSource(vault.platform, begun.plan, content.source, {
    ...{ signal, partChunks: begun.partChunks, journal: partJournal(journal, parts) },
    beforeEnd: () => requireGeneration(vault, view, { maxAge: 0 }),
    digest: digest.some((byte) => byte !== 0) ? digest : null,
  });
  return { begun, source };
}

function isWanted({ contentSize, padded }: FilePlan, { content, options }: Upload): boolean {
  return contentSize === content.size && padded === (options.padded ?? false);
}

async function begin(upload: Upload, view: VaultView, target: SharedUploadTarget): Promise<Sending> {
  const { vault, content, options } = upload;
  const { journal, signal } = options;
  const writing = await vault.writingKey(view);
  const fileId = target.kind === "file" ? crypto.randomUUID() : target.file.id;
  const plan = await newFilePlan(vault.platform, {
    ...{ fileId, versionId: crypto.randomUUID(), contentSize: content.size, padded: options.padded ?? false },
    envelopeOf: (request) => makeEnvelope(vault.platform, writing.record, writing.key, request),
  });
  const partChunks = partChunksOf(options.partBytes);
  const keep = journal === undefined ? undefined : partJournal(journal, []);
  // Again before the end: what was written for hours is not whole anywhere under a key from before a removal.
  const beforeEnd = () => requireGeneration(vault, view, { maxAge: 0 });
  const encrypted = await encrypt(vault, plan, content, { signal, partChunks, journal: keep, beforeEnd });
  const begun = { ...(await sign(upload, view, target, { writing, plan, digest: encrypted.digest })), partChunks };
  if (journal !== undefined) await keepVersion(journal, begun);
  return { begun, source: encrypted.source };
}

/** Parts of an upload of another size are made in that size, so that a part sent is a part kept. */
function partChunksOf(partBytes: number | undefined): number {
  return Math.min(Math.max(Math.floor((partBytes ?? PART_BYTES) / CHUNK_BYTES), 1), PART_CHUNKS);
}

interface Encrypted {
  readonly source: Source;
  /** null: not computed. */
  readonly digest: Uint8Array | null;
}

async function encrypt(
  { platform }: OpenVault,
  plan: FilePlan,
  content: Content,
  options: EncryptedSourceOptions,
): Promise<Encrypted> {
  const { signal } = options;
  const all = () => readContent(content.source, 0, content.size);
  if (!content.inMemory) {
    const digest =
      content.rereadable && content.size <= DIGEST_BYTES ? await digestMessage(platform, plan, all(), signal) : null;
    return { digest, source: encryptedSource(platform, plan, content.source, { ...options, digest }) };
  }
  const bytes = new Uint8Array(plan.fileSize ?? 0);
  const digest = platform.createSha256();
  let filled = 0;
  for await (const piece of encryptFile(plan, all(), { digest, ...(signal === undefined ? {} : { signal }) })) {
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return { digest: digest.digest(), source: openSource(bytes, undefined) };
}

interface ToSign {
  readonly writing: WritingKey;
  readonly plan: FilePlan;
  readonly digest: Uint8Array | null;
}

/** Both statements: a new version carries a new entry too, because the metadata names the content's size. */
async function sign(
  { vault, content }: Upload,
  view: VaultView,
  target: SharedUploadTarget,
  { writing, plan, digest }: ToSign,
): Promise<Omit<BegunVersion, "partChunks">> {
  const before = target.kind === "file" ? null : await readBefore(vault, target.file);
  const statement = await makeVersionStatement(view, await vault.author(), {
    ...{ record: writing.record, header: plan.header, envelope: plan.envelope, commitment: plan.keys.commitment },
    ...{ messageLength: plan.messageSize ?? 0, digest, previous: before?.version ?? null, time: Date.now() },
  });
  const name = target.kind === "file" ? target.name.normalize("NFC") : (before?.metadata.name ?? "");
  const contentType = target.contentType ?? before?.metadata.contentType ?? "application/octet-stream";
  const id = parseHeader(plan.header).fileId;
  const folderId = before === null ? folderOf(target) : before.entry.folderId;
  const metadata = { name, contentType, size: content.size };
  const wanted = { kind: "file", id, folderId, metadata, previous: before?.entry ?? null } as const;
  const entry = await makeEntry(vault, view, writing, wanted);
  return { plan, statement, name, contentType, shared: { version: toBase64(statement.bytes), ...entry } };
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
  const view = await viewNaming((wanted) => vault.view(wanted), [parseVersionStatement(bytes)]);
  const version = await verifyVersionStatement(
    { vault: vault.objectId, view, seen: vault.seen.version(file.id) },
    bytes,
  );
  if (version.fileId !== file.id)
    throw new CryptoError("damaged", "ids", "the version statement is of another file than the one to be replaced");
  const { statement, metadata } = await openItem(vault, "file", file, placeOf(file));
  return { version, entry: statement, metadata };
}

async function requireGeneration(vault: OpenVault, view: VaultView, options: ReadOptions): Promise<void> {
  const now = await vault.view(options);
  if (now.generation === view.generation) return;
  throw refused("generation_moved", 409, "The vault has a newer generation");
}

/** As the service would say it. */
function refused(code: "generation_moved" | "precondition_failed", status: number, message: string): ApiError {
  return new ApiError(code, message, { status, requestId: null, retryAfterMs: null });
}

/** The name is told only where names are plain. */
function targetOf(vault: OpenVault, target: SharedUploadTarget, shared: SharedFile, plainNames: boolean): Target {
  if (target.kind === "version") return { kind: "version", fileId: target.file.id, ifMatch: target.ifMatch, shared };
  const { folderId, ifAbsent, name } = target;
  return { kind: "file", name: plainNames ? name : null, vaultId: vault.id, folderId, ifAbsent, shared };
}

/** As its members see it: bytes and digest of the content, which this client alone has counted. */
function describe(file: File, { name, contentType }: BegunVersion, { source, size }: Content): UploadResult {
  return {
    file: { ...file, name, contentType, size, storedSize: file.size },
    ...{ bytes: size, sha256: toHex(source.digest()) },
  };
}
