/** One act on many files and folders (decision 0060). */
import * as z from "zod/mini";
import { object, strictObject } from "./object.ts";
import { partError } from "./batches.ts";
import { endpoint } from "./endpoint.ts";
import { sharedEntry } from "./shared-entries.ts";
import { condition, uuid } from "./values.ts";

/** Files and folders of one act. */
export const MAX_ACT_ITEMS = 1000;

/** Files and folders together: no file has the id of a folder. */
const ids = z.array(uuid).check(z.minLength(1), z.maxLength(MAX_ACT_ITEMS));

/** Some of the ids, each with the tag that it must still have. */
const conditions = z.optional(
  z
    .array(
      strictObject({
        /** UUID of the file or folder. */
        id: uuid,
        /** Its revision in quotes, or the tag that a client computed of it. */
        ifMatch: condition,
      }),
    )
    .check(z.maxLength(MAX_ACT_ITEMS)),
);

/** In the order of the ids. Those without an error are durable. */
const output = object({
  /** One for each id of the request, in its order. */
  results: z.array(
    object({
      /** UUID of the file or folder. */
      id: uuid,
      /** Why it was not done. null: it is done and durable. */
      error: z.nullable(partError),
    }),
  ),
});

/** A folder in `ids` also needs the scope `folders:write`. */
const act = {
  auth: "credential",
  access: "agent",
  scope: "files:write",
  vaultLimit: "object",
  method: "POST",
  effect: "update",
  keyed: true,
  status: 200,
  output,
} as const;

/** Belongs to `files`. Each is safe to repeat: what is done already is no error. */
export const itemActsGroup = {
  /** Move up to 1,000 files and folders to the trash; each has its own result. */
  trashMany: endpoint({
    ...act,
    id: "files.trashMany",
    path: "/api/files/trash",
    body: strictObject({
      /** UUIDs of files and folders, at most 1,000. A folder also needs the scope `folders:write`. */
      ids,
      /** Entity tags that some of the ids must still have, as `If-Match` of a change of one. Default: none. */
      conditions,
    }),
    errors: [],
  }),
  /** Bring up to 1,000 files and folders back from the trash; each has its own result. */
  restoreMany: endpoint({
    ...act,
    id: "files.restoreMany",
    path: "/api/files/restore",
    body: strictObject({
      /** UUIDs of files and folders, at most 1,000. A folder also needs the scope `folders:write`. */
      ids,
      /** Entity tags that some of the ids must still have, as `If-Match` of a change of one. Default: none. */
      conditions,
    }),
    errors: [],
  }),
  /** Move up to 1,000 files and folders inside their vaults (folderId null: to the top); each has its own result. */
  moveMany: endpoint({
    ...act,
    id: "files.moveMany",
    path: "/api/files/move",
    body: strictObject({
      /** UUIDs of files and folders, at most 1,000. A folder also needs the scope `folders:write`. */
      ids,
      /** Entity tags that some of the ids must still have, as `If-Match` of a change of one. Default: none. */
      conditions,
      /** UUID of the folder to move into. null: the top of the vault that each lies in. */
      folderId: z.nullable(uuid),
      /** In a shared vault: the signed statement of each new place. Default: none. */
      entries: z.optional(
        z
          .array(
            strictObject({
              /** UUID of the file or folder that the statement is of. */
              id: uuid,
              /** Signed and encrypted name and place, in a shared vault. Default: none, in a public one. */
              shared: sharedEntry,
            }),
          )
          .check(z.maxLength(MAX_ACT_ITEMS)),
      ),
    }),
    errors: ["not_found"],
  }),
} as const;
