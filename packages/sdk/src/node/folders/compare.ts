/** Whether a file here and one at the service have the same content: by the journal, else by digest. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { connectionOf } from "../../client.ts";
import { openFileDownload } from "../../transfer/download.ts";
import type { SdkError } from "../../http/errors.ts";
import { MAX_BATCHED_BYTES } from "../../transfer/upload-options.ts";
import { sourceChanged } from "../../transfer/source.ts";
import { fileErrorCode } from "../store/durable-file.ts";
import { isSameMark, markOf, stableMark, type Mark } from "../files/file-mark.ts";
import { requireRealPath } from "./held-directory.ts";
import type { LocalFile } from "./local-tree.ts";
import type { Outcome } from "./outcome.ts";
import type { RecordedFile } from "./state.ts";
import type { FolderJob } from "./folder-job.ts";
import type { RemoteFile } from "./remote-tree.ts";

export interface Comparison {
  /** SHA-256 of the content that both have. null: they differ. */
  readonly sha256: string | null;
  /** Nobody changed the receiving side since the journal was written. */
  readonly isKnown: boolean;
}

/** Decided by the journal alone; null: something has to be read. */
export function compareMarks({ state }: FolderJob, { path, mark }: LocalFile, remote: RemoteFile): Comparison | null {
  const recorded = state.files.get(path);
  if (recorded === undefined || !isAsRecordedThere(recorded, remote) || !isAsRecordedHere(recorded, mark)) return null;
  return { sha256: recorded.sha256, isKnown: true };
}

export async function compareContents(job: FolderJob, local: LocalFile, remote: RemoteFile): Promise<Comparison> {
  const { direction, state } = job;
  const recorded = state.files.get(local.path);
  const isRecordedThere = recorded !== undefined && isAsRecordedThere(recorded, remote);
  const sameSize = local.mark.size === remote.size;
  if (!sameSize && (direction === "up" || recorded === undefined)) return { sha256: null, isKnown: isRecordedThere };
  const here =
    recorded !== undefined && isAsRecordedHere(recorded, local.mark) ? recorded.sha256 : await digestHere(job, local);
  const isKnown = direction === "up" ? isRecordedThere : here === recorded?.sha256;
  if (!sameSize) return { sha256: null, isKnown };
  const there = isRecordedThere ? recorded.sha256 : job.isPublic ? remote.sha256 : await digestThere(job, remote);
  if (here !== there) return { sha256: null, isKnown };
  const { id: fileId, versionId } = remote;
  if (!job.dryRun) state.recordFile(local.path, { fileId, versionId, sha256: here, mark: stableMark(local.mark) });
  return { sha256: here, isKnown };
}

/** Whether the file here has the content that was the same on both sides. */
export async function isUnchangedHere(job: FolderJob, local: LocalFile, recorded: RecordedFile): Promise<boolean> {
  return isAsRecordedHere(recorded, local.mark) || (await digestHere(job, local)) === recorded.sha256;
}

function isAsRecordedThere(recorded: RecordedFile, { id, versionId }: RemoteFile): boolean {
  return recorded.fileId === id && recorded.versionId === versionId;
}

function isAsRecordedHere(recorded: RecordedFile, mark: Mark): boolean {
  return recorded.mark !== null && isSameMark(recorded.mark, mark);
}

/**
 * Opens a file of the tree, and nothing that took its place. A link is refused, and so is another file that a link of
 * a directory above leads to.
 * @throws SdkError `source_changed`.
 */
export async function openHere({ mark, place }: LocalFile): Promise<{ handle: FileHandle; mark: Mark }> {
  const handle = await open(place, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile() || String(stats.ino) !== mark.inode) throw tookItsPlace();
    requireRealPath(handle.fd, place);
    return { handle, mark: markOf(stats) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * A small file at once. Each of its calls would take longer to hand to another thread than to make: with thousands of
 * files that is most of the work.
 * @throws SdkError `source_changed`.
 */
export function readHere({ mark: seen, place }: LocalFile): { readonly bytes: Uint8Array; readonly mark: Mark } {
  const file = openSync(place, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(file, { bigint: true });
    const mark = markOf(stats);
    if (!stats.isFile() || mark.inode !== seen.inode) throw tookItsPlace();
    requireRealPath(file, place);
    if (mark.size > MAX_BATCHED_BYTES) throw changed();
    const bytes = new Uint8Array(mark.size);
    const filled = readSync(file, bytes, 0, mark.size, 0);
    const isSame = isSameMark(mark, markOf(fstatSync(file, { bigint: true })));
    if (filled !== mark.size || !(isSame || startsWith(file, bytes))) throw changed();
    return { bytes, mark };
  } finally {
    closeSync(file);
  }
}

/** Something appends to the file: what was read is what it began with between the two readings. */
function startsWith(file: number, bytes: Uint8Array): boolean {
  const again = new Uint8Array(bytes.length);
  return readSync(file, again, 0, again.length, 0) === bytes.length && Buffer.compare(again, bytes) === 0;
}

/** A file here that went away since the directory was read is no failure: neither side is to have it. */
export function failHere(outcome: Outcome, { path, place }: LocalFile, error: unknown): void {
  if (fileErrorCode(error) === "ENOENT" && lstatSync(place, { throwIfNoEntry: false }) === undefined)
    outcome.skip(path, "gone");
  else outcome.fail(path, error);
}

function changed(): SdkError {
  return sourceChanged("The file changed while it was read");
}

function tookItsPlace(): SdkError {
  return sourceChanged("Another file took its place since the directory was read");
}

const READ_BYTES = 256 * 1024;

async function digestHere({ signal }: FolderJob, local: LocalFile): Promise<string> {
  const { handle, mark } = await openHere(local);
  try {
    const hash = createHash("sha256");
    const buffer = new Uint8Array(Math.min(READ_BYTES, mark.size + 1));
    for (let count = -1; count !== 0;) {
      signal?.throwIfAborted();
      count = (await handle.read(buffer, 0, buffer.length, null)).bytesRead;
      hash.update(buffer.subarray(0, count));
    }
    const now = markOf(await handle.stat({ bigint: true }));
    // Of a file that has grown the digest is of more than anybody knows: it differs.
    if (!isSameMark(local.mark, now) && now.size <= local.mark.size) throw changed();
    return hash.digest("hex");
  } finally {
    await handle.close();
  }
}

/** In a shared vault only a reader can compute the digest of the content. */
async function digestThere({ client, place: { vaultId }, signal }: FolderJob, { id }: RemoteFile): Promise<string> {
  const hash = createHash("sha256");
  const { stream } = await openFileDownload(connectionOf(client), id, { vaultId, signal, reuseBuffer: true });
  for await (const piece of stream) hash.update(piece);
  return hash.digest("hex");
}
