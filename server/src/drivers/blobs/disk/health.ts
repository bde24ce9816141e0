/** Translates a medium's errors into the port's, and remembers the one that ends all writing. */
import { BlobStoreFaultError, BlobStoreFullError } from "../../../ports/blob-store.ts";
import { errorCode } from "./file-system.ts";

export class Health {
  #fault: BlobStoreFaultError | null = null;

  /** @throws BlobStoreFaultError once a flush has failed. */
  assert(): void {
    if (this.#fault !== null)
      throw new BlobStoreFaultError("The blob store has stopped: a flush to the disk failed", { cause: this.#fault });
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
   * Runs a flush. Whatever its error, it is never tried again: the kernel may have dropped the dirty pages and would
   * report success the second time (lwn.net/Articles/752063, "fsyncgate"). A full disk found late is the exception
   * that file systems with delayed allocation make; the content is dropped then as well.
   */
  async flush(step: Promise<void>): Promise<void> {
    try {
      await step;
    } catch (error) {
      if (isFull(error)) throw this.#translate(error);
      throw this.#stop(error);
    }
  }

  #translate(error: unknown): unknown {
    if (isFull(error)) return new BlobStoreFullError("The disk of the blob store is full", { cause: error });
    return errorCode(error) === "EIO" ? this.#stop(error) : error;
  }

  #stop(error: unknown): BlobStoreFaultError {
    this.#fault ??= new BlobStoreFaultError("The disk of the blob store failed", { cause: error });
    return this.#fault;
  }
}

function isFull(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}
