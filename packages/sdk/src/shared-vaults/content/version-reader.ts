/** One version of a shared vault's file on its way to its reader (file-format §10). */
import {
  seenVersion,
  toReadableStream,
  verifyVersion,
  type FileStart,
  type OpenedEntry,
  type RangeKey,
  type VaultView,
  type VerifiedVersion,
  type VersionStatement,
} from "@coffer/crypto";
import { collect, makeDownload, type Download, type DownloadFacts } from "../../transfer/stored-download.ts";
import type { Connection } from "../../connection/options.ts";
import { tagOf } from "../condition.ts";
import type { OpenVault } from "../open-vault.ts";
import type { ShownFile } from "./file-header.ts";
import { vaultError } from "../vault-error.ts";
import { toVaultError } from "../vault-terms.ts";
import { type VaultError } from "../../http/errors.ts";
import type { DownloadOptions } from "../../transfer/content-headers.ts";

/** For callers inside the SDK. */
export interface EncryptedDownloadOptions extends DownloadOptions {
  /** Less memory: a piece of a whole file is valid only until the one after the next is asked for. */
  readonly reuseBuffer?: boolean | undefined;
}

export interface Reading {
  readonly connection: Connection;
  readonly vault: OpenVault;
  readonly file: ShownFile;
  /** The version's statement, as the service gave it: read, and not verified. */
  readonly statement: VersionStatement;
  /** Verified, and its metadata. */
  readonly entry: OpenedEntry["statement"];
  readonly metadata: OpenedEntry["metadata"];
  readonly view: VaultView;
  readonly options: EncryptedDownloadOptions;
}

/** The whole reading order but the chunks, and the memory of it. */
export async function unlock(reading: Reading, start: FileStart): Promise<RangeKey> {
  const { vault, entry, file, statement, view } = reading;
  const question = {
    vault: vault.objectId,
    view,
    fileId: file.id,
    versionId: file.versionId,
    seen: vault.seen.version(file.id),
    entry,
  };
  const verified = await verifyVersion(
    vault.platform,
    question,
    { statement, start, fileSize: file.size },
    vault.findKey,
  );
  vault.seen.recordVersion(file.id, seenVersion(verified.statement));
  await vault.seen.flush();
  return keyOf(verified);
}

function keyOf({ dataKey, statement }: VerifiedVersion): RangeKey {
  const { digest, messageLength } = statement;
  return { dataKey, messageLength, digest: digest.some((byte) => byte !== 0) ? digest : null };
}

/** Compares the number of bytes with the entry's, and throws failures in the SDK's words. */
export async function* counted(
  { options }: Reading,
  content: AsyncGenerator<Uint8Array, void, void>,
  length: number,
): AsyncGenerator<Uint8Array, void, void> {
  let seen = 0;
  try {
    for await (const piece of content) {
      seen += piece.length;
      if (seen > length) break;
      options.onProgress?.({ bytes: seen, total: length });
      yield piece;
    }
  } catch (error) {
    throw toVaultError(error);
  }
  if (seen !== length) throw otherSize();
  if (seen === 0) options.onProgress?.({ bytes: 0, total: 0 });
}

export function otherSize(): VaultError {
  return vaultError("damaged", "The file does not have the size in its entry", { step: "metadata" });
}

/** The facts of a download besides its bytes. */
export function factsOf({ file, metadata }: Reading, range: Download["range"]): DownloadFacts {
  const { contentType, name, size } = metadata;
  const tag = file.shared && tagOf(file.shared);
  return { size, sha256: file.sha256, range, contentType, name, etag: null, tag };
}

export function describe(
  reading: Reading,
  range: Download["range"],
  content: AsyncGenerator<Uint8Array, void, void>,
): Download {
  const stream = toReadableStream(content);
  return makeDownload(factsOf(reading, range), { stream, bytes: () => collect(stream, range.length) });
}
