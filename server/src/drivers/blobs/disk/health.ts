/** Translates a medium's errors into the port's, and remembers the one that ends all writing. */
import { BlobStoreAwayError, BlobStoreFaultError, BlobStoreFullError } from "../../../ports/blob-store.ts";
import { Durations } from "../../../ports/durations.ts";
import type { OnStorageFault } from "../../../ports/storage-faults.ts";
import { errorCode } from "./file-system.ts";

export class Health {
  readonly flushes = new Durations();
  readonly #onFault: OnStorageFault;
  #fault: BlobStoreFaultError | null = null;

  constructor(onFault: OnStorageFault) {
    this.#onFault = onFault;
  }

  /** @throws BlobStoreFaultError once a flush has failed. */
  assert(): void {
    if (this.#fault === null) return;
    const more = { cause: this.#fault, known: true };
    throw new BlobStoreFaultError("The blob store has stopped: a flush to the disk failed", more);
  }

  /** Runs a step that writes. */
  async guard<Result>(step: Promise<Result>): Promise<Result> {
    try {
      return await step;
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /**
   * Runs a flush. An error of fsync itself, whichever it is, ends all writing: a flush is never tried again, because the kernel may have
   * dropped the dirty pages and would report success the second time (lwn.net/Articles/752063, "fsyncgate"). A full disk found late is the
   * exception that file systems with delayed allocation make; the content is dropped then as well. What comes before fsync, such as opening a
   * directory, has dropped nothing: a moment without file descriptors passes.
   */
  async flush(step: Promise<void>): Promise<void> {
    const began = performance.now();
    try {
      await step;
    } catch (error) {
      if (isOfFlush(error) && !isFull(error)) throw this.#stop(error);
      throw this.#translate(error);
    } finally {
      this.flushes.observe(performance.now() - began);
    }
  }

  #translate(error: unknown): unknown {
    if (isFull(error)) {
      this.#onFault({ kind: "full", cause: error });
      return new BlobStoreFullError("The disk of the blob store is full", { cause: error });
    }
    if (!AWAY.has(errorCode(error) ?? "")) return error;
    this.#onFault({ kind: "suspect" });
    return new BlobStoreAwayError("The disk of the blob store cannot be written", { cause: error });
  }

  #stop(error: unknown): BlobStoreFaultError {
    const isFirst = this.#fault === null;
    this.#fault ??= new BlobStoreFaultError("The disk of the blob store failed", { cause: error, known: true });
    if (isFirst) this.#onFault({ kind: "stopped", cause: error });
    return this.#fault;
  }
}

/** What the process or the machine lacks for the moment, and a disk that cannot be read or written: all of it may pass (open(2), write(2)). */
const AWAY: ReadonlySet<string> = new Set([
  ...["EMFILE", "ENFILE", "ENOMEM", "EIO", "EROFS", "EACCES", "EPERM"],
  ...["ENOENT", "ENOTDIR", "ENODEV", "ENXIO", "ESTALE"],
]);

function isFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

/** Node names the system call that failed. */
function isOfFlush(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "fsync";
}
