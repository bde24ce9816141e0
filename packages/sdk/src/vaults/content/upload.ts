/** Uploads into shared vaults: encrypted and signed here, then sent as any other upload. */
import { clientApi as api, type SharedFile } from "@coffer/contract";
import {
  CryptoError,
  placeOf,
  seenVersion,
  type EntryStatement,
  type FilePlan,
  type Place,
  type VaultView,
} from "@coffer/crypto";
import type { ReadOptions } from "@coffer/chain";
import { callOn } from "../../call.ts";
import { chosenName } from "../../chosen-name.ts";
import { toHex } from "../../digest.ts";
import { SdkError } from "../../errors.ts";
import type { Connection } from "../../options.ts";
import { endUpload } from "../../upload/upload-session.ts";
import type { Source } from "../../upload/source.ts";
import type { Target, UploadResult } from "../../upload/target.ts";
import { uploadSource, type SendingOptions } from "../../upload/upload.ts";
import { openContent, type Content } from "./content.ts";
import { encryptedSource } from "./encrypted-source.ts";
import { authorsOf } from "../names/authors.ts";
import { noteOwnEntry } from "../names/entries.ts";
import { beginVersion, folderOf, type Sending, type SharedUploadTarget } from "./new-version.ts";
import type { OpenVault } from "../open-vault.ts";
import { stageFolder } from "../names/staging.ts";
import { partJournal, reopenVersion, type BegunVersion } from "./upload-journal.ts";
import { generationMoved, preconditionFailed } from "../service-view.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import type { UploadJournal } from "../../journals.ts";

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
}

/**
 * Reads the plaintext once, or twice below 64 MiB. A source that can be read only once is not tried again when the
 * vault changes meanwhile. With a journal it goes on with an earlier process's upload, if content and vault are still
 * the same. Closes the source.
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
        target.kind === "file" ? { ...target, name: chosenName(api.files.upload.id, target.name) } : target;
      // Checked before anything is read: a client that cannot sign cannot write.
      await vault.author();
      const { digest = false, journal } = options;
      const content = await openContent(source, vault.platform, { digest, journaled: journal !== undefined });
      return uploadOften({ connection, vault, content, options }, stored);
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
  const { connection, vault } = upload;
  const code = error instanceof SdkError || error instanceof CryptoError ? error.code : null;
  if (code === "generation_moved") await vault.view({ maxAge: 0 });
  else if (code === "names_outdated") await stageFolder(connection, vault, folderOf(target));
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

/** A condition names the earlier version: a newer one does not meet it, even if the service would accept that. */
async function readAgain({ connection, options }: Upload, target: SharedUploadTarget): Promise<SharedUploadTarget> {
  if (target.kind === "file") return target;
  const { file: before, ifMatch = "*" } = target;
  const params = { fileId: before.id };
  const { file } = await callOn(connection, api.files.get, { params }, { signal: options.signal });
  if (ifMatch !== "*" && file.shared?.version !== before.shared?.version)
    throw preconditionFailed("The file has a newer version");
  return { ...target, file };
}

async function uploadOnce(upload: Upload, target: SharedUploadTarget): Promise<UploadResult> {
  const { connection, vault, content, options } = upload;
  // Much to send, or much already sent: worth a question to the chain.
  const fresh = content.bytes !== null ? {} : { maxAge: 0 };
  const view = await vault.view(options.journal?.kept == null ? {} : fresh);
  const sending = (await resume(upload, view)) ?? (await begin(upload, view, target));
  const { begun } = sending;
  // The service refuses an older generation; a check before saves the bytes (encryption design §2, writing).
  await requireNow(vault, begun.statement, fresh);
  const place = targetOf(vault, target, begun.shared, view.plainNames);
  const { journal, ...plain } = { ...options, idempotencyKey: undefined };
  const sent = await uploadSource(connection, place, sending.source, plain, journal);
  const { entry } = begun;
  const { file } = sent;
  if (file.id !== entry.id || file.vaultId !== vault.id || file.folderId !== entry.folderId)
    throw vaultError("damaged", `The service answers with file ${file.id}, which is not the one that was sent there`, {
      step: "ids",
    });
  vault.seen.noteVersion(file.id, seenVersion(begun.statement));
  noteOwnEntry(vault, file.id, entry);
  return describe(sent, begun, content, entry);
}

/** The upload that an earlier process began; null: none can go on, and the rest was given up. */
async function resume(upload: Upload, view: VaultView): Promise<Sending | null> {
  const { vault, content, options } = upload;
  const { journal, signal } = options;
  if (journal === undefined) return null;
  await vault.requireNewest(view);
  const found = await reopenVersion(vault, journal, view);
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
    beforeEnd: () => requireNow(vault, begun.statement, { maxAge: 0 }),
    digest: digest.some((byte) => byte !== 0) ? digest : null,
  });
  return { begun, source };
}

function begin({ vault, content, options }: Upload, view: VaultView, target: SharedUploadTarget): Promise<Sending> {
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
    const { file, ifMatch, restores } = target;
    return { kind: "version", fileId: file.id, ifMatch, shared: { ...shared, restores } };
  }
  const { folderId, ifAbsent, name } = target;
  return { kind: "file", name: plainNames ? name : null, vaultId: vault.id, folderId, ifAbsent, shared };
}

/** As its members see it: bytes and digest of the content, which only this client has counted. */
function describe(
  { file }: UploadResult,
  { name, contentType }: BegunVersion,
  { source, size }: Content,
  entry: EntryStatement,
): UploadResult {
  const digest = source.digest();
  return {
    file: { ...file, name, contentType, size, storedSize: file.size, encrypted: true, ...authorsOf(entry) },
    ...{ bytes: size, sha256: digest && toHex(digest) },
  };
}
