/** Directories for tests: nobody who asks for one has to remove it. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made = new Set<string>();

/** A new, empty directory by its real path. It goes when the tests of this file are over, after their own hooks. */
export function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "coffer-test-")));
  made.add(directory);
  return directory;
}

export function removeDirectories(): void {
  for (const directory of made) rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  made.clear();
}
