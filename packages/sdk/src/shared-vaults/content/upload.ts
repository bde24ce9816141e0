/** Uploads into shared vaults: encrypted and signed here, then sent as any other upload. */
import { filesGroup, versionsGroup, type File, type FileVersion, type SharedFile } from "@coffer/contract";
import {
  CryptoError,
  parseVersionStatement,
  placeOf,
  seenVersion,
  statementHash,
  type EntryStatement,
  type FilePlan,
  type Place,
  type VaultView,
  type VersionStatement,
} from "@coffer/crypto";
import type { ReadOptions } from "@coffer/chain";
import { callOn } from "../../http/call.ts";
import { chosenName } from "../../http/chosen-name.ts";
import { fromBase64, toHex } from "../../transfer/digest.ts";
import { ApiError, SdkError } from "../../http/errors.ts";
import type { Connection } from "../../connection/options.ts";
import { endUpload } from "../../transfer/upload-session.ts";
import type { Source } from "../../transfer/source.ts";
import type { Target, UploadResult } from "../../transfer/target.ts";
import { uploadSource, type SendingOptions } from "../../transfer/upload.ts";
import { Condition, isStored, tagOf, unlessStored, type Linked } from "../condition.ts";
import { openContent, type Content } from "./content.ts";
import { encryptedSource } from "./encrypted-source.ts";
import { authorsOf } from "../names/authors.ts";
import { noteOwnEntry } from "../names/entries.ts";
import { beginVersion, folderOf, readCurrent, useOf, type Sending, type SharedUploadTarget } from "./new-version.ts";
import type { OpenVault } from "../open-vault.ts";
import { stageFolder } from "../names/staging.ts";
import { partJournal, reopenVersion, type BegunVersion } from "./upload-journal.ts";
import { generationMoved, preconditionFailed } from "../service-view.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import type { UploadJournal } from "../../transfer/journals.ts";

/** How often an upload begins again with a new key, because the vault, the folder's names or the file changed meanwhile. */
const ATTEMPTS = 5;

export type SharedUploadOptions = SendingOptions & {
  /** Keeps the upload over a crash. */
  readonly journal?: UploadJournal | undefined;
};

/** One upload and the common parts of all its attempts. */
interface Upload {
  readonly connection: Connection;
  readonly vault: OpenVault;
  readonly content: Content;
  readonly options: SharedUploadOptions;
  /** What a new version follows, in all attempts. */
  readonly condition: Condition;
}

/**
 * Reads the plaintext once, or twice below 64 MiB. A source that can be read only once is not tried again when the
 * vault changes meanwhile. With a journal it goes on with an earlier process's upload, if content and vault are still
 * the same. Closes the source.
 * @throws ApiError `precondition_failed` if the file is not in the state that `ifMatch` names, or that `target` shows.
 * @throws SdkError `source_changed`; VaultError `signing_key_missing`, `not_a_member`; VaultError `generation_moved` and ApiError
 * `names_outdated` only when they keep coming.
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
      const stored =
        target.kind === "file" ? { ...target, name: chosenName(filesGroup.upload.id, target.name) } : target;
      // Checked before anything is read: a client that cannot sign cannot write.
      await vault.author();
      const content = await openContent(source, vault.platform, { journaled: options.journal !== undefined });
      const condition =
        target.kind === "file" ? new Condition("*", null) : new Condition(target.ifMatch, target.file.shared);
      return uploadOften({ connection, vault, content, options, condition }, stored);
    });
  } finally {
    await source.close();
  }
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

/** Throws failures that another try cannot cure. It gives the begun version up: the next attempt has another key. */
async function prepareAgain(
  upload: Upload,
  target: SharedUploadTarget,
  error: unknown,
  resumed: boolean,
): Promise<void> {
  const { connection, vault, condition } = upload;
  const code = error instanceof SdkError || error instanceof CryptoError ? error.code : null;
  // If it was perhaps done, nothing is done again.
  if (error instanceof SdkError && error.perhapsDone) throw error;
  if (code === "generation_moved") await vault.view({ maxAge: 0 });
  else if (code === "names_outdated") {
    const staged = await stageFolder(connection, vault, folderOf(target));
    if (target.kind === "version") condition.noteStaged(staged, target.file.id);
  }
  // Somebody else's version or vault key came first: read both again.
  else if (code === "statement_invalid") vault.forgetWritingKey();
  // The source differs from the earlier process's: nothing of this one was sent yet.
  else if (code !== "source_changed" || !resumed) throw error;
  await giveUp(upload);
}

async function giveUp({ connection, options: { journal } }: Upload): Promise<void> {
  const uploadId = await journal?.discard();
  if (uploadId != null) await endUpload(connection, uploadId);
}

async function readAgain(upload: Upload, target: SharedUploadTarget): Promise<SharedUploadTarget> {
  return target.kind === "file" ? target : { ...target, file: await readFile(upload, target.file.id) };
}

async function readFile({ connection, options }: Upload, fileId: string): Promise<File> {
  return (await callOn(connection, filesGroup.get, { params: { fileId } }, { signal: options.signal })).file;
}

async function uploadOnce(upload: Upload, target: SharedUploadTarget): Promise<UploadResult> {
  const { connection, vault, content, options } = upload;
  // Much to send, or much already sent: worth a question to the chain.
  const fresh = content.bytes !== null ? {} : { maxAge: 0 };
  const view = await vault.view(options.journal?.kept == null ? {} : fresh);
  const sending: Resumed = (await resume(upload, view, target)) ?? (await begin(upload, view, target));
  const { begun } = sending;
  // The service refuses an older generation; a check before saves the bytes (encryption design §2, writing).
  await requireNow(vault, begun.statement, fresh);
  const place = targetOf(vault, target, begun.shared, view.plainNames);
  const { journal, ...plain } = { ...options, idempotencyKey: undefined };
  const send = () => uploadSource(connection, place, sending.source, plain, journal);
  const sent = sending.stored ?? (await unlessStored(send(), () => findStored(upload, begun)));
  const { entry } = begun;
  const { file } = sent;
  if (file.id !== entry.id || file.vaultId !== vault.id || file.folderId !== entry.folderId)
    throw vaultError("damaged", `The service answers with file ${file.id}, which is not the one that was sent there`, {
      step: "ids",
    });
  vault.seen.noteVersion(file.id, seenVersion(begun.statement));
  noteOwnEntry(vault, file.id, entry);
  await vault.seen.flush();
  return describe(sent, begun, content, entry);
}

/** The file that an upload has made, as it made it; false: it has not; null: the service does not show which. */
async function findStored(upload: Upload, { shared, statement, entry }: BegunVersion): Promise<Stored | false | null> {
  const { connection, vault } = upload;
  const { fileId, sequence: number, previous, bytes } = statement;
  const now = await readFile(upload, fileId).catch((error: unknown) => {
    // A new file that was not made. One that is gone by now has a past which nobody shows.
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
  if (now === null) return number === 1n ? false : null;
  if (now.shared?.version === shared.version) return { file: now };
  const stored = await isStored({ number, previous, bytes }, versionsFrom(connection, vault, now));
  if (stored !== true) return stored;
  const row = await findRow(connection, statement);
  if (row === null) return null;
  const { versionId, size, sha256 } = row;
  const then: File = { ...now, versionId, size, sha256, folderId: entry.folderId, shared };
  return { file: then };
}

/** The current version, verified, and those before it in the service's list. */
async function* versionsFrom(
  connection: Connection,
  vault: OpenVault,
  now: File,
): AsyncGenerator<Linked, void, undefined> {
  yield linked(await readCurrent(vault, now));
  for await (const { shared } of everyVersion(connection, now.id))
    yield linked(parseVersionStatement(fromBase64(shared?.version ?? "") ?? new Uint8Array(0)));
}

function linked({ sequence: number, previous, bytes }: VersionStatement): Linked {
  return { number, previous, bytes };
}

async function findRow(connection: Connection, { fileId, versionId }: VersionStatement): Promise<FileVersion | null> {
  for await (const version of everyVersion(connection, fileId)) if (version.versionId === versionId) return version;
  return null;
}

async function* everyVersion(connection: Connection, fileId: string): AsyncGenerator<FileVersion, void, undefined> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = cursor === undefined ? {} : { cursor };
    const page: { versions: FileVersion[]; nextCursor: string | null } = await callOn(
      connection,
      versionsGroup.versions,
      { params: { fileId }, query },
    );
    yield* page.versions;
    cursor = page.nextCursor;
  }
}

/** The file as the service has it. */
type Stored = Pick<UploadResult, "file">;

interface Resumed extends Sending {
  /** The file as the begun version has made it, if others have replaced it since. */
  readonly stored?: Stored;
}

/** The upload that an earlier process began; null: none can go on, and the rest was given up. */
async function resume(upload: Upload, view: VaultView, target: SharedUploadTarget): Promise<Resumed | null> {
  const { vault, content, options } = upload;
  const { journal, signal } = options;
  if (journal === undefined) return null;
  await vault.requireNewest(view);
  const found = await reopenVersion(vault, journal, view);
  // A session without its plan must go too: it holds bytes of another version.
  if (found === null && journal.kept === null && journal.uploadId === null) return null;
  const standing =
    found !== null &&
    isWanted(found.begun.plan, upload) &&
    (await isUnder(upload, found.begun, view, target)) &&
    (await judge(upload, found.begun, target));
  if (found === null || standing === false) {
    await giveUp(upload);
    return null;
  }
  const { begun, parts } = found;
  const { digest } = begun.statement;
  const source = encryptedSource(vault.platform, begun.plan, content.source, {
    signal,
    partChunks: begun.partChunks,
    journal: partJournal(journal, parts),
    beforeEnd: () => requireNow(vault, begun.statement, { maxAge: 0 }),
    digest: digest.some((byte) => byte !== 0) ? digest : null,
  });
  return { begun, source, ...(standing === true ? {} : { stored: standing }) };
}

/**
 * A key that this call may not write under, or that is not the current one any more, ends the earlier version. One that is stored already
 * is not written again.
 */
async function isUnder(
  { vault }: Upload,
  { shared, statement }: BegunVersion,
  view: VaultView,
  target: SharedUploadTarget,
): Promise<boolean> {
  if (target.kind !== "file" && target.file.shared?.version === shared.version) return true;
  const { record } = await vault.writingKey(view, useOf(target));
  return toHex(statement.keyId) === toHex(record.keyId);
}

/**
 * Whether the begun version may go on: it is the current one, or follows the state that the condition names. The file as it
 * made it, if it is stored and others have replaced it since.
 * @throws ApiError `precondition_failed` if the service does not show whether it is stored: nothing is done again.
 */
async function judge(upload: Upload, begun: BegunVersion, target: SharedUploadTarget): Promise<boolean | Stored> {
  if (target.kind === "file") return true;
  const { shared } = target.file;
  if (shared === null || shared.version === begun.shared.version) return shared !== null;
  if (follows(begun.statement, shared.version) && follows(begun.entry, shared.entry)) {
    upload.condition.require(shared);
    return true;
  }
  const stored = await findStored(upload, begun);
  if (stored !== null) return stored;
  await giveUp(upload);
  throw preconditionFailed(
    "An earlier upload of this version may have been stored before the version that the file has",
  );
}

function follows({ previous }: { readonly previous: Uint8Array }, before: string): boolean {
  return toHex(previous) === toHex(statementHash(fromBase64(before) ?? new Uint8Array(0)));
}

function begin(
  { vault, content, options, condition }: Upload,
  view: VaultView,
  target: SharedUploadTarget,
): Promise<Sending> {
  if (target.kind === "version") condition.require(target.file.shared);
  // Checked again before the end: a long upload must not become whole under a key from before a removal.
  const beforeEnd = (place: Place) => requireNow(vault, place, { maxAge: 0 });
  return beginVersion(vault, view, content, target, { ...options, beforeEnd });
}

function isWanted({ contentSize, padded }: FilePlan, { content, options }: Upload): boolean {
  return contentSize === content.size && padded === (options.padded ?? false);
}

/** Nothing is sent of a place that the vault has left meanwhile. */
async function requireNow(vault: OpenVault, { generation, after }: Place, options: ReadOptions): Promise<void> {
  const now = placeOf(await vault.view(options));
  if (now.generation === generation && now.after <= after) return;
  throw generationMoved();
}

/** The name is sent only if names are plain. */
function targetOf(vault: OpenVault, target: SharedUploadTarget, shared: SharedFile, plainNames: boolean): Target {
  if (target.kind === "version") {
    const { file, restores } = target;
    return { kind: "version", fileId: file.id, shared: { ...shared, restores } };
  }
  const { folderId, ifAbsent, name } = target;
  return { kind: "file", name: plainNames ? name : null, vaultId: vault.id, folderId, ifAbsent, shared };
}

/** As its members see it: bytes and digest of the content, which only this client has counted. */
async function describe(
  { file }: Stored,
  { name, contentType, shared, statement: { versionId } }: BegunVersion,
  { source, size }: Content,
  entry: EntryStatement,
): Promise<UploadResult> {
  return {
    file: {
      ...file,
      versionId,
      name,
      contentType,
      size,
      storedSize: file.size,
      encrypted: true,
      ...authorsOf(entry),
      tag: tagOf(shared),
    },
    bytes: size,
    sha256: toHex(await source.digest()),
  };
}
