/** How much a call may remove without being told that it is meant. */
import { SdkError } from "../../http/errors.ts";
import type { SyncFolderOptions } from "./options.ts";

/** Counts of files. */
export interface DeletionCounts {
  readonly direction: SyncFolderOptions["direction"];
  readonly removed: number;
  readonly sending: number;
  readonly receiving: number;
}

/**
 * A false list, a disk that is not mounted, the wrong one of two directories: each looks as if almost everything were
 * deleted.
 * @throws SdkError `too_many_deletions`.
 */
export function requireFewDeletions(
  { direction, receiving, removed, sending }: DeletionCounts,
  maxDelete: number | undefined,
): void {
  const most = maxDelete ?? (sending === 0 ? 0 : receiving / 2);
  if (removed <= most) return;
  const side = direction === "up" ? "of the vault" : "of the directory";
  const source = sending === 0 ? ", and the sending side has none" : "";
  throw new SdkError(`It would remove ${String(removed)} of ${String(receiving)} files ${side}${source}`, {
    code: "too_many_deletions",
    retryable: false,
    nextStep: "Look at a dry run. If it is right, pass the number of files as `maxDelete`.",
  });
}
