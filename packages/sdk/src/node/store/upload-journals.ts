/**
 * Unfinished uploads of a longer work, such as a rotation, in files. Each work has a directory of its own, which is
 * removed when the work is done.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { configDirectory, type Environment } from "../config/config.ts";
import { clearJournals, openJournal, openWherePossible } from "./journal.ts";
import type { UploadJournals } from "../../transfer/journals.ts";

/** `uploads` in the configuration's directory. */
export function uploadDirectory(env?: Environment): string {
  return join(configDirectory(env), "uploads");
}

/** Keeps them in files of mode 0600, which hold no secret; several processes may share the directory. */
export function fileUploadJournals(directory: string = uploadDirectory()): UploadJournals {
  const placeOf = (work: string): string => join(directory, createHash("sha256").update(work).digest("hex"));
  return {
    open: (work, purpose, source) => openWherePossible(() => openJournal(placeOf(work), purpose, source)),
    clear: (work) => clearJournals(placeOf(work)),
  };
}
