/** Several changes of one vault's files in one act: all of them, or none (encryption design §9.3). */
import * as z from "zod/mini";
import { object, strictObject } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { file } from "./files.ts";
import { sharedContentErrors, sharedEntry } from "./shared-entries.ts";
import { condition, itemName, uuid } from "./values.ts";

/** Changes of one commit. */
export const MAX_COMMIT_CHANGES = 100;
/** Stored bytes of all new contents of one commit, and so of one held upload. */
export const MAX_COMMIT_BYTES = 256 * 1024 * 1024;

const change = strictObject({
  /** UUID of the file. Each file stands in one change of a commit. */
  id: uuid,
  /**
   * Entity tag that the file must still have: the one that a client computed of it (the `tag` of the SDK), which changes with content, name
   * and place. `*`: whatever is newest.
   */
  ifMatch: condition,
  /** UUID of a held upload of this file (`held` in `Upload-Metadata`), whose bytes become its new version. Default: the content stays. */
  uploadId: z.optional(uuid),
  /** New name. Default: unchanged. */
  name: z.optional(itemName),
  /** UUID of the folder to move to. null: the top of the vault. Default: unchanged. */
  folderId: z.optional(z.nullable(uuid)),
  /** Signed and encrypted name and place, in a shared vault. Default: none, in a public one, and with `uploadId`, which has brought it. */
  shared: z.optional(sharedEntry),
  /** `true`: moves the file to the trash. It comes alone. Default: the file stays. */
  trash: z.optional(z.literal(true)),
});

/** Belongs to `files`. */
export const fileCommitGroup = {
  /**
   * Make up to 100 new versions, renames, moves and trashings in one vault, each under its own condition: all of them or none. Contents come
   * first, as held uploads of at most 256 MiB together. Names are compared at the end, so files may swap theirs. A refusal names the file in
   * Coffer-Item-Id, and a failed condition also its present tag in ETag.
   */
  commit: endpoint({
    id: "files.commit",
    method: "POST",
    path: "/api/files/commit",
    auth: "credential",
    access: "agent",
    scope: "files:write",
    vaultLimit: "object",
    effect: "update",
    keyed: true,
    body: strictObject({
      /** UUID of the vault of all files. */
      vaultId: uuid,
      /** What is done, each file once. */
      changes: z.array(change).check(z.minLength(1), z.maxLength(MAX_COMMIT_CHANGES)),
    }),
    status: 200,
    output: object({
      /** The files as they are now, in the order of the changes. */
      files: z.array(file),
    }),
    errors: [
      "not_found",
      "name_exists",
      "precondition_failed",
      "different_vault",
      "trashed",
      "storage_quota",
      "budget_storage",
      "upload_expired",
      "disk_full",
      ...sharedContentErrors,
    ],
  }),
} as const;
