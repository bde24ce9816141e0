/** A temporary directory for copies in the clear. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Scratch extends Disposable {
  /** Without symbolic links; mode 0700. */
  readonly path: string;
}

/** It is removed when it is disposed of, or when the process exits before: then nothing that waits would be done any more. */
export function openScratch(): Scratch {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "coffer-scratch-")));
  // Retries: the tool server may write into it still.
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 10 });
  process.once("exit", remove);
  return {
    path,
    [Symbol.dispose]() {
      process.off("exit", remove);
      remove();
    },
  };
}
