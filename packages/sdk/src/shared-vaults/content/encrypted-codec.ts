/** Uploads into shared vaults: encrypted and signed here, then sent as any other upload. */
import { filesGroup, type File, type SharedFile } from "@coffer/contract";
import { placeOf, seenVersion, statementHash, type FilePlan, type Place, type VaultView } from "@coffer/crypto";
import type { ReadOptions } from "@coffer/chain";
import type { Connection } from "../../connection/options.ts";
import { chosenName } from "../../http/chosen-name.ts";
import { SdkError } from "../../http/errors.ts";
import { fromBase64, toHex } from "../../transfer/digest.ts";
import type { UploadJournal } from "../../transfer/journals.ts";
import type { Source } from "../../transfer/source.ts";
import { discardUpload } from "../../transfer/tus-session.ts";
import type { EncodedUpload, UploadCodec, UploadResult, UploadTarget } from "../../transfer/upload-codec.ts";
import { runUpload, type RunOptions } from "../../transfer/upload-runner.ts";
import { Condition, tagOf } from "../condition.ts";
import { authorsOf } from "../names/authors.ts";
import { refreshFor } from "../names/refresh.ts";
import { recordOwnEntry } from "../names/entries.ts";
import { openLatest } from "../names/latest-item.ts";
import type { StagedEntries } from "../names/name-stager.ts";
import type { OpenVault } from "../open-vault.ts";
import { generationMoved, preconditionFailed } from "../service-view.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { EncryptedParts } from "./encrypted-parts.ts";
import {
  createVersion,
  folderOf,
  readBefore,
  useOf,
  type Before,
  type EncodedVersion,
  type SharedUploadTarget,
} from "./new-version.ts";
import { openPlaintext, type Plaintext } from "./plaintext.ts";
import { findStoredVersion, readFile } from "./stored-version.ts";
import { loadVersion, type SignedVersion } from "./version-journal.ts";

/** As `upload` of `transfer/upload.ts`, for a vault that is open. Closes the source and the journal. */
export function uploadEncrypted(
  connection: Connection,
  vault: OpenVault,
  target: SharedUploadTarget,
  source: Source,
  options: RunOptions,
): Promise<UploadResult> {
  return runUpload(connection, source, options, () => openEncryptedCodec(connection, vault, target, source, options));
}

/** @throws VaultError `signing_key_missing`, `not_a_member`; SdkError `source_changed`. */
export function openEncryptedCodec(
  connection: Connection,
  vault: OpenVault,
  target: SharedUploadTarget,
  source: Source,
  options: RunOptions,
): Promise<EncryptedCodec> {
  return inVaultTerms(async () => {
    const named = target.kind === "file" ? { ...target, name: chosenName(filesGroup.upload.id, target.name) } : target;
    // Checked before anything is read: a client that cannot sign cannot write.
    await vault.author();
    const { journal = null } = options;
    const plaintext = await openPlaintext(source, vault.platform, { journaled: journal !== null });
    return new EncryptedCodec(connection, vault, named, plaintext, { ...options, journal });
  });
}

interface CodecOptions extends Pick<RunOptions, "signal" | "padded" | "partBytes"> {
  readonly journal: UploadJournal | null;
}

/**
 * Reads the plaintext once, or twice below 64 MiB. Each attempt is a version with a key of its own, except the first
 * one with a journal: it goes on with the version that an earlier process began, if content and vault are still the
 * same. A source that can be read only once has one attempt.
 */
export class EncryptedCodec implements UploadCodec {
  readonly #connection: Connection;
  readonly #vault: OpenVault;
  readonly #plaintext: Plaintext;
  readonly #options: CodecOptions;
  /** What a new version follows, in all attempts. */
  readonly #condition: Condition;
  /** The file of a version is read again before each further attempt. */
  #target: SharedUploadTarget;
  #isAgain = false;
  /** The attempt goes on with an earlier process's version. */
  #isResumed = false;
  /** What the attempt sends. */
  #version: SignedVersion | null = null;

  constructor(
    connection: Connection,
    vault: OpenVault,
    target: SharedUploadTarget,
    plaintext: Plaintext,
    options: CodecOptions,
  ) {
    this.#connection = connection;
    this.#vault = vault;
    this.#target = target;
    this.#plaintext = plaintext;
    this.#options = options;
    this.#condition =
      target.kind === "file" ? new Condition("*", null) : new Condition(target.ifMatch, target.file.shared);
  }

  /**
   * @throws ApiError `precondition_failed` if the file is not in the state that `ifMatch` names, or that the target
   * shows; VaultError `generation_moved` before anything is sent of a place that the vault has left.
   */
  encode(): Promise<EncodedUpload> {
    return inVaultTerms(async () => {
      const vault = this.#vault;
      this.#version = null;
      this.#isResumed = this.#options.journal !== null && this.#options.journal.kept !== null;
      if (this.#isAgain && this.#target.kind === "version") {
        const file = await readFile(this.#connection, this.#target.file.id, this.#options.signal);
        this.#target = { ...this.#target, file };
      }
      // Much to send, or much already sent: worth a question to the chain.
      const freshness = this.#plaintext.bytes !== null ? {} : { maxAge: 0 };
      const view = await vault.view(this.#isResumed ? freshness : {});
      const { bytes, stored, version } = (await this.#resume(view)) ?? { ...(await this.#start(view)), stored: null };
      this.#version = version;
      // The service refuses an older generation; a check before saves the bytes (encryption design §2, writing).
      await this.#requirePlace(version.statement, freshness);
      const { size: contentSize } = this.#plaintext;
      return { target: this.#requestTarget(version.shared, view.plainNames), bytes, contentSize, stored };
    });
  }

  findStored(): Promise<File | false | null> {
    return inVaultTerms(async () =>
      this.#version === null
        ? null
        : findStoredVersion(this.#connection, this.#vault, this.#version, this.#options.signal),
    );
  }

  async recover(error: unknown): Promise<boolean> {
    // If it was perhaps done, nothing is done again.
    if (!this.#plaintext.rereadable || !(error instanceof SdkError) || error.perhapsDone) return false;
    // The source differs from the earlier process's: nothing of this one was sent yet.
    if (error.code === "source_changed" && this.#isResumed) return (this.#isAgain = true);
    const staged = await inVaultTerms(() =>
      refreshFor(error.code, this.#connection, this.#vault, folderOf(this.#target)),
    );
    if (staged === null) return false;
    this.restart(staged);
    return true;
  }

  /** Whether another attempt is possible. */
  get rereadable(): boolean {
    return this.#plaintext.rereadable;
  }

  /** The next attempt is a new version. `staged`: what this client has signed to cure the failure of the last one. */
  restart(staged: StagedEntries): void {
    if (this.#target.kind === "version") this.#condition.acceptStaged(staged, this.#target.file.id);
    this.#isAgain = true;
  }

  /** As members see the file: bytes and digest of the content, which only this client has counted. */
  async receipt(file: File): Promise<UploadResult> {
    const [vault, version] = [this.#vault, this.#version];
    const { id, folderId } = version?.entry ?? { id: null, folderId: null };
    if (version === null || file.id !== id || file.vaultId !== vault.id || file.folderId !== folderId)
      throw vaultError(
        "damaged",
        `The service answers with file ${file.id}, which is not the one that was sent there`,
        { step: "ids" },
      );
    vault.seen.recordVersion(file.id, seenVersion(version.statement));
    recordOwnEntry(vault, file.id, version.entry);
    await vault.seen.flush();
    const { name, contentType, entry, shared, statement } = version;
    const { size, source } = this.#plaintext;
    return {
      file: {
        ...file,
        versionId: statement.versionId,
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

  async #start(view: VaultView): Promise<EncodedVersion> {
    // First the vault, then the file: a node that made the vault's state up is the cause of what the file looks like.
    const writing = await this.#vault.writingKey(view, useOf(this.#target));
    const before = await this.#readBefore();
    return createVersion(this.#vault, view, this.#plaintext, this.#target, {
      ...this.#options,
      writing,
      before,
      beforeEnd: (place) => this.#requirePlace(place, { maxAge: 0 }),
    });
  }

  /** Before the content is read: a content that can be read only once is not spent on a file that has changed. */
  async #readBefore(): Promise<Before | null> {
    const target = this.#target;
    if (target.kind === "file") return null;
    const readAgain = () => readFile(this.#connection, target.file.id, this.#options.signal);
    return openLatest(target.file, readAgain, (file) => {
      this.#condition.require(file.shared);
      this.#target = { ...target, file };
      return readBefore(this.#vault, file);
    });
  }

  /** The version that an earlier process began; null: none can go on, and the rest was given up. */
  async #resume(view: VaultView): Promise<(EncodedVersion & Pick<EncodedUpload, "stored">) | null> {
    const { journal, signal } = this.#options;
    const vault = this.#vault;
    if (journal === null) return null;
    await vault.requireNewest(view);
    const saved = await loadVersion(vault, journal, view);
    // A session without its plan must go too: it holds bytes of another version.
    if (saved === null && journal.kept === null && journal.uploadId === null) return null;
    const verdict =
      saved !== null &&
      this.#isWanted(saved.version.plan) &&
      (await this.#isUnderKey(saved.version, view)) &&
      (await this.#judge(saved.version));
    if (saved === null || verdict === false) {
      await discardUpload(this.#connection, journal);
      return null;
    }
    const { records, version } = saved;
    const { digest } = version.statement;
    const bytes = new EncryptedParts(vault.platform, version.plan, this.#plaintext.source, {
      signal,
      partChunks: version.partChunks,
      records,
      // A long upload must not become whole under a key from before a removal.
      beforeEnd: () => this.#requirePlace(version.statement, { maxAge: 0 }),
      digest: digest.some((byte) => byte !== 0) ? digest : null,
    });
    return { version, bytes, stored: verdict === true ? null : verdict };
  }

  #isWanted({ contentSize, padded }: FilePlan): boolean {
    return contentSize === this.#plaintext.size && padded === (this.#options.padded ?? false);
  }

  /**
   * A key that this call may not write under, or that is not the current one any more, ends the earlier version. One
   * that is stored already is not written again.
   */
  async #isUnderKey({ shared, statement }: SignedVersion, view: VaultView): Promise<boolean> {
    const target = this.#target;
    if (target.kind !== "file" && target.file.shared?.version === shared.version) return true;
    const { record } = await this.#vault.writingKey(view, useOf(target));
    return toHex(statement.keyId) === toHex(record.keyId);
  }

  /**
   * Whether the earlier version may go on: it is the current one, or follows the state that the condition names. The
   * file as it made it, if it is stored and others have replaced it since.
   * @throws ApiError `precondition_failed` if the service does not show whether it is stored: nothing is done again.
   */
  async #judge(version: SignedVersion): Promise<boolean | File> {
    const target = this.#target;
    if (target.kind === "file") return true;
    const { shared } = target.file;
    if (shared === null || shared.version === version.shared.version) return shared !== null;
    if (follows(version.statement, shared.version) && follows(version.entry, shared.entry)) {
      this.#condition.require(shared);
      return true;
    }
    const stored = await findStoredVersion(this.#connection, this.#vault, version, this.#options.signal);
    if (stored !== null) return stored;
    await discardUpload(this.#connection, this.#options.journal);
    throw preconditionFailed(
      "An earlier upload of this version may have been stored before the version that the file has",
    );
  }

  /** Nothing is sent of a place that the vault has left meanwhile. */
  async #requirePlace({ generation, after }: Place, options: ReadOptions): Promise<void> {
    const now = placeOf(await this.#vault.view(options));
    if (now.generation === generation && now.after <= after) return;
    throw generationMoved();
  }

  /** The name is sent only if names are plain. */
  #requestTarget(shared: SharedFile, plainNames: boolean): UploadTarget {
    const target = this.#target;
    if (target.kind === "version") {
      const { file, ifMatch, isHeld, restores } = target;
      const version = { kind: "version", fileId: file.id, shared: { ...shared, restores } } as const;
      if (isHeld !== true || file.shared === null) return version;
      const name = plainNames ? target.name : undefined;
      return { ...version, held: { ifMatch: ifMatch === "*" ? ifMatch : tagOf(file.shared), name } };
    }
    const { folderId, ifAbsent, name } = target;
    return { kind: "file", name: plainNames ? name : null, vaultId: this.#vault.id, folderId, ifAbsent, shared };
  }
}

function follows({ previous }: { readonly previous: Uint8Array }, before: string): boolean {
  return toHex(previous) === toHex(statementHash(fromBase64(before) ?? new Uint8Array(0)));
}
