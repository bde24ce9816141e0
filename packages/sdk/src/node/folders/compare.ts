/** Whether a file here and one at the service have the same content: by the journal, else by digest. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { connectionOf } from "../../client.ts";
import { openFileDownload } from "../../transfer/download.ts";
import type { SdkError } from "../../http/errors.ts";
import type { File } from "../../storage/item-types.ts";
import { MAX_BATCHED_BYTES } from "../../transfer/upload-options.ts";
import { sourceChanged } from "../../transfer/source.ts";
import { fileErrorCode } from "../store/durable-file.ts";
import { isSameMark, markOf, settled, type Mark } from "../files/file-mark.ts";
import { requirePlace } from "./held.ts";
import type { LocalFile } from "./local-tree.ts";
import type { Outcome } from "./outcome.ts";
import type { KnownFile } from "./state.ts";
import type { Work } from "./work.ts";

export interface Comparison {
  /** SHA-256 of the content that both have. null: they differ. */
  readonly sha256: string | null;
  /** Nobody changed the receiving side since the journal was written. */
  readonly isKnown: boolean;
}

/** Decided by the journal alone; null: something has to be read. */
export function compareMarks({ state }: Work, { path, mark }: LocalFile, remote: File): Comparison | null {
  const known = state.files.get(path);
  if (known === undefined || !isKnownThere(known, remote) || !isKnownHere(known, mark)) return null;
  return { sha256: known.sha256, isKnown: true };
}

export async function compareContents(work: Work, local: LocalFile, remote: File): Promise<Comparison> {
  const { direction, state } = work;
  const known = state.files.get(local.path);
  const knownThere = known !== undefined && isKnownThere(known, remote);
  const sameSize = local.mark.size === remote.size;
  if (!sameSize && (direction === "up" || known === undefined)) return { sha256: null, isKnown: knownThere };
  const here = known !== undefined && isKnownHere(known, local.mark) ? known.sha256 : await digestHere(work, local);
  const isKnown = direction === "up" ? knownThere : here === known?.sha256;
  if (!sameSize) return { sha256: null, isKnown };
  const there = knownThere ? known.sha256 : work.isPublic ? remote.sha256 : await digestThere(work, remote);
  if (here !== there) return { sha256: null, isKnown };
  const { id: fileId, versionId } = remote;
  if (!work.dryRun) state.noteFile(local.path, { fileId, versionId, sha256: here, mark: settled(local.mark) });
  return { sha256: here, isKnown };
}

/** Whether the file here has the content that was the same on both sides. */
export async function isUnchangedHere(work: Work, local: LocalFile, known: KnownFile): Promise<boolean> {
  return isKnownHere(known, local.mark) || (await digestHere(work, local)) === known.sha256;
}

function isKnownThere(known: KnownFile, { id, versionId }: File): boolean {
  return known.fileId === id && known.versionId === versionId;
}

function isKnownHere(known: KnownFile, mark: Mark): boolean {
  return known.mark !== null && isSameMark(known.mark, mark);
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
    requirePlace(handle.fd, place);
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
    requirePlace(file, place);
    if (mark.size > MAX_BATCHED_BYTES) throw changed();
    const bytes = new Uint8Array(mark.size);
    const filled = readSync(file, bytes, 0, mark.size, 0);
    const isSame = isSameMark(mark, markOf(fstatSync(file, { bigint: true })));
    if (filled !== mark.size || !(isSame || beginsWith(file, bytes))) throw changed();
    return { bytes, mark };
  } finally {
    closeSync(file);
  }
}

/** Something appends to the file: what was read is what it began with between the two readings. */
function beginsWith(file: number, bytes: Uint8Array): boolean {
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

async function digestHere({ signal }: Work, local: LocalFile): Promise<string> {
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
async function digestThere({ client, place: { vaultId }, signal }: Work, { id }: File): Promise<string> {
  const hash = createHash("sha256");
  const { stream } = await openFileDownload(connectionOf(client), id, { vaultId, signal, reuseBuffer: true });
  for await (const piece of stream) hash.update(piece);
  return hash.digest("hex");
}
