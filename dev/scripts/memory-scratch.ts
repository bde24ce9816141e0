import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import path from "node:path";

const IN_MEMORY = "/dev/shm";
/** The tests leave a few GiB there until each file has ended, beside the memory of what they start. */
const NEEDED_BYTES = 10 * 2 ** 30;

/**
 * A directory for the temporary files of tests, in memory if there is plenty: thousands of small databases wait for a disk otherwise. Its
 * `environment` is empty where there is none, and where somebody chose a directory by `TMPDIR`.
 */
export function openMemoryScratch(): { readonly environment: Readonly<Record<string, string>> } & Disposable {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return { environment: {}, [Symbol.dispose]: () => undefined };
  const directory = mkdtempSync(path.join(IN_MEMORY, "coffer-"));
  // As /tmp is: PostgreSQL runs as a user of its own.
  chmodSync(directory, 0o1777);
  return {
    environment: { TMPDIR: directory },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= NEEDED_BYTES && freemem() >= NEEDED_BYTES;
  } catch {
    return false;
  }
}
