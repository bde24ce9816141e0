import { createHash } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { ContractError } from "../../http/errors.ts";
import { sourceChanged, type Source } from "../../transfer/source.ts";

/**
 * What shows that a file is still the same: decimal texts of device, inode, bytes and nanoseconds. A type: it is a
 * SourceIdentity too.
 */
export type FileIdentity = {
  readonly device: string;
  readonly inode: string;
  readonly size: string;
  readonly modified: string;
  readonly changed: string;
};

/** A source that notices when its file changes. */
export interface FileSource extends Source {
  readonly size: number;
  readonly identity: FileIdentity;
}

/** Milliseconds. What was written so recently may be a log that grows while it is read. */
const RECENT = 60_000;

/**
 * Opens a regular file; `handle`, when given, is one already opened (and is closed with the source). Every read ends
 * with a check of the file's identity. If the file changed since it was opened, its bytes are refused with
 * `source_changed` before they are sent. A file that something appends to is read as far as it went when it was opened: the last read
 * reads all of that again, and refuses other bytes than those that were given before.
 */
export async function openFileSource(path: string, handle?: FileHandle): Promise<FileSource> {
  // O_NONBLOCK: a named pipe must not hang the open; it is refused below.
  const file = handle ?? (await open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new ContractError("request", "uploadFile", ["path: not a regular file"]);
    const identity = identityOf(stats);
    return {
      size: Number(stats.size),
      rereadable: true,
      readsAhead: true,
      identity,
      read:
        Date.now() - Number(stats.mtimeMs) < RECENT
          ? growingReader(file, identity)
          : (offset, target) => readUnchanged(file, identity, offset, target),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export function sameIdentity(a: FileIdentity, b: FileIdentity): boolean {
  return (
    a.device === b.device &&
    a.inode === b.inode &&
    a.size === b.size &&
    a.modified === b.modified &&
    a.changed === b.changed
  );
}

async function readUnchanged(
  file: FileHandle,
  identity: FileIdentity,
  offset: number,
  target: Uint8Array,
): Promise<number> {
  const filled = await fill(file, offset, target);
  if (!sameIdentity(identity, await identityNow(file))) throw changed();
  return filled;
}

interface Given {
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
}

/** Remembers the digests of what it gives, so that it can look at all of it once more if the file has grown meanwhile. */
function growingReader(file: FileHandle, identity: FileIdentity): Source["read"] {
  const size = Number(identity.size);
  const given = new Map<string, Given>();
  return async (offset, target) => {
    const piece = target.subarray(0, Math.max(0, size - offset));
    const filled = await fill(file, offset, piece);
    const now = await identityNow(file);
    const isSame = sameIdentity(identity, now);
    const hasGrown = now.device === identity.device && now.inode === identity.inode && BigInt(now.size) >= size;
    if (!isSame && !(hasGrown && filled === piece.length)) throw changed();
    given.set(`${String(offset)} ${String(filled)}`, {
      offset,
      length: filled,
      sha256: digestOf(piece.subarray(0, filled)),
    });
    if (!isSame && offset + filled === size) await requireSame(file, size, [...given.values()]);
    return filled;
  };
}

/** At the moment between the first reading and this one the file began with exactly these bytes. */
async function requireSame(file: FileHandle, size: number, given: readonly Given[]): Promise<void> {
  let end = 0;
  for (const { length, offset, sha256 } of given.toSorted((one, other) => one.offset - other.offset)) {
    const again = new Uint8Array(length);
    const isWhole = offset <= end && (await fill(file, offset, again)) === length;
    if (!isWhole || digestOf(again) !== sha256) throw changed();
    end = Math.max(end, offset + length);
  }
  if (end !== size) throw changed();
}

async function fill(file: FileHandle, offset: number, target: Uint8Array): Promise<number> {
  let filled = 0;
  while (filled < target.length) {
    const { bytesRead } = await file.read(target, filled, target.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const changed = () => sourceChanged("The file changed while it was uploaded");

const identityNow = async (file: FileHandle): Promise<FileIdentity> => identityOf(await file.stat({ bigint: true }));

function identityOf(stats: BigIntStats): FileIdentity {
  return {
    device: String(stats.dev),
    inode: String(stats.ino),
    size: String(stats.size),
    modified: String(stats.mtimeNs),
    changed: String(stats.ctimeNs),
  };
}
