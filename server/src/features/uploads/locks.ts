/** One writer per upload (tus answers the others 423). */
import { ServiceError } from "../../service-error.ts";

export interface Locks {
  /** Throws `upload_locked` when somebody holds it. */
  take(uploadId: string): Disposable;
  isTaken(uploadId: string): boolean;
}

/**
 * Locks of this process. A writer in another process is caught by the blob store, which takes bytes only at the durable
 * length, and by the transaction that makes the file.
 */
export function createLocks(): Locks {
  const taken = new Set<string>();
  return {
    isTaken: (uploadId) => taken.has(uploadId),
    take(uploadId) {
      if (taken.has(uploadId)) throw new ServiceError("upload_locked");
      taken.add(uploadId);
      return { [Symbol.dispose]: () => void taken.delete(uploadId) };
    },
  };
}
