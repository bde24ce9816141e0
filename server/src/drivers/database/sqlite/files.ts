/**
 * Whether the files that the connections hold open are still those at their paths. A file that was removed, or replaced by another, takes
 * commits as before, and all of them are gone with the process.
 */
import { statSync } from "node:fs";
import { DatabaseUnavailableError } from "../../../ports/database.ts";
import type { OnStorageFault } from "../../../ports/storage-faults.ts";

export class DatabaseFiles {
  readonly #path: string;
  readonly #onFault: OnStorageFault;
  /** The log of committed pages counts as much as the database: what is in it alone is lost with it. */
  readonly #held: readonly { readonly path: string; readonly identity: string | null }[];
  #isGone = false;

  /** While connections are open on them. */
  constructor(path: string, onFault: OnStorageFault) {
    this.#path = path;
    this.#onFault = onFault;
    this.#held = [path, `${path}-wal`].map((file) => ({ path: file, identity: identityOf(file) }));
  }

  /** @throws DatabaseUnavailableError until the same files are back. */
  assertThere(): void {
    const gone = this.#held.find(({ path, identity }) => identityOf(path) !== identity);
    const wasGone = this.#isGone;
    this.#isGone = gone !== undefined;
    if (gone === undefined) return;
    const message = `The file ${gone.path} is not the one that the database ${this.#path} was opened with: nothing is written`;
    const error = new DatabaseUnavailableError(message, { known: true });
    if (!wasGone) this.#onFault({ kind: "gone", cause: error });
    throw error;
  }
}

/** null: there is none, or it cannot be looked at. */
function identityOf(path: string): string | null {
  try {
    // A number would round the inodes of some file systems.
    const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
    return facts === undefined ? null : `${facts.dev}:${facts.ino}`;
  } catch {
    return null;
  }
}
