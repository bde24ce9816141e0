/** One act on many files and folders (decision 0060). Clients load it when they need it. */
import * as z from "zod/mini";
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
  z.array(z.strictObject({ id: uuid, ifMatch: condition })).check(z.maxLength(MAX_ACT_ITEMS)),
);

/** In the order of the ids. Those without an error are durable. */
const output = z.object({ results: z.array(z.object({ id: uuid, error: z.nullable(partError) })) });

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
  trashMany: endpoint({
    ...act,
    id: "files.trashMany",
    path: "/api/files/trash",
    body: z.strictObject({ ids, conditions }),
    errors: [],
  }),
  restoreMany: endpoint({
    ...act,
    id: "files.restoreMany",
    path: "/api/files/restore",
    body: z.strictObject({ ids, conditions }),
    errors: [],
  }),
  moveMany: endpoint({
    ...act,
    id: "files.moveMany",
    path: "/api/files/move",
    body: z.strictObject({
      ids,
      conditions,
      /** null: to the top of the vault that each lies in. */
      folderId: z.nullable(uuid),
      /** In a shared vault: the statement of each new place. */
      entries: z.optional(z.array(z.strictObject({ id: uuid, shared: sharedEntry })).check(z.maxLength(MAX_ACT_ITEMS))),
    }),
    errors: ["not_found"],
  }),
} as const;
