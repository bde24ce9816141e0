/**
 * Space kept back for a full disk. SQLite needs room even to delete (the WAL grows first), so nobody could empty a
 * service whose disk is full. The driver gives up a file of real blocks for that, and makes it again once there is
 * room.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync, writeSync } from "node:fs";

const RETRY_MS = 30_000;

export interface Reserve extends Disposable {
  /** Gives the space up. False when there was none to give. */
  release(): Promise<boolean>;
}

/** A service starts on a disk that is full already: it tries the reserve again later. */
export async function openReserve(path: string, bytes: number): Promise<Reserve> {
  return new ReserveFile(path, bytes);
}

class ReserveFile implements Reserve {
  readonly #path: string;
  readonly #bytes: number;
  #retry: NodeJS.Timeout | null = null;

  constructor(path: string, bytes: number) {
    this.#path = path;
    this.#bytes = bytes;
    this.#make();
  }

  async release(): Promise<boolean> {
    if (!existsSync(this.#path) || !removeQuietly(this.#path)) return false;
    this.#makeLater();
    return true;
  }

  [Symbol.dispose](): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  #makeLater(): void {
    this.#retry = setTimeout(() => this.#make(), RETRY_MS);
    this.#retry.unref();
  }

  /** A timer runs it too, where nobody could catch what it throws. */
  #make(): void {
    if (this.#bytes === 0) return;
    try {
      if (!isWhole(this.#path, this.#bytes)) fill(this.#path, this.#bytes);
    } catch {
      // Without room there is nothing to keep back; half a reserve would only take what others need.
      removeQuietly(this.#path);
      this.#makeLater();
    }
  }
}

function isWhole(path: string, bytes: number): boolean {
  return existsSync(path) && statSync(path).size === bytes;
}

/** False: the disk does not let go of it. */
function removeQuietly(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Zeros are written, not only a length set: a sparse file holds no blocks. */
function fill(path: string, bytes: number): void {
  const zeros = Buffer.alloc(Math.min(bytes, 1024 * 1024));
  const file = openSync(path, "w", 0o600);
  try {
    for (let written = 0; written < bytes;)
      written += writeSync(file, zeros, 0, Math.min(zeros.length, bytes - written));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
