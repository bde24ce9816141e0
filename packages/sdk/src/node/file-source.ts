import { constants, type BigIntStats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { ContractError } from "../errors.ts";
import { sourceChanged, type Source } from "../upload/source.ts";

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

/**
 * Opens a regular file; `handle`, when given, is one already opened (and is closed with the source). Every read ends
 * with a check of the file's identity. If the file changed since it was opened, its bytes are refused with
 * `source_changed` before they are sent.
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
      read: (offset, target) => readUnchanged(file, identity, offset, target),
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
  let filled = 0;
  while (filled < target.length) {
    const { bytesRead } = await file.read(target, filled, target.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  if (!sameIdentity(identity, identityOf(await file.stat({ bigint: true }))))
    throw sourceChanged("The file changed while it was uploaded");
  return filled;
}

function identityOf(stats: BigIntStats): FileIdentity {
  return {
    device: String(stats.dev),
    inode: String(stats.ino),
    size: String(stats.size),
    modified: String(stats.mtimeNs),
    changed: String(stats.ctimeNs),
  };
}
