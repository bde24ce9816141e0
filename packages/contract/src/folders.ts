import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { nameIndex, sharedErrors, sharedEntry } from "./shared-entries.ts";
import {
  author,
  booleanText,
  condition,
  idPrefix,
  itemName,
  nextPage,
  pageQuery,
  revision,
  timestamp,
  uuid,
} from "./values.ts";

export const MAX_FOLDER_DEPTH = 32;

/** `root` names the top of a vault where a folder id is expected. */
export const folderOrRoot = z.union([z.enum(["root"]), uuid]);

export const folderSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** Raised by every rename, move, trash and restore. A change can name it in `If-Match`, to act on no other. */
  revision,
  /** Name of the folder. "": only members can read it. */
  name: z.string(),
  /** UUID of the vault. */
  vaultId: uuid,
  /** UUID of the folder that holds it. null: the top of the vault. */
  parentId: z.nullable(uuid),
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
  /** When it last changed: RFC 3339 in UTC, with milliseconds. */
  updatedAt: timestamp,
  /** The caller that made it, with its credential as it was then. A member of another account has its address alone. null: not noted. */
  createdBy: author,
  /** The caller that last changed it, as in `createdBy`. null: not noted. */
  updatedBy: author,
  /** When it was moved to the trash: RFC 3339 in UTC. null: it is not in the trash. */
  trashedAt: z.nullable(timestamp),
  /** What members signed and encrypted. null: in a public vault. */
  shared: z.nullable(sharedEntry),
});

/** A folder. */
export interface Folder extends Parsed<typeof folderSchema> {}

export const folder: Named<Folder> = folderSchema;

const folderParams = object({
  /** UUID of the folder. */
  folderId: uuid,
});
const member = { auth: "credential", access: "agent" } as const;
const write = { ...member, scope: "folders:write", vaultLimit: "object" } as const;

export const foldersGroup = {
  /** Create a folder at the top of a vault or in another folder. */
  create: endpoint({
    ...write,
    id: "folders.create",
    method: "POST",
    path: "/api/folders",
    effect: "create",
    body: strictObject({
      /** Name of the folder. Default: none, in a shared vault with encrypted names. */
      name: z.optional(itemName),
      /** UUID of the vault. Default: the vault of `parentId`, else your default vault (`isDefault`), which is public. */
      vaultId: z.optional(uuid),
      /** UUID of the folder to put it in. null or default: the top of the vault. */
      parentId: z.optional(z.nullable(uuid)),
      /** Signed and encrypted name and place, in a shared vault. Default: none, in a public one. */
      shared: z.optional(sharedEntry),
    }),
    status: 201,
    output: object({
      /** The folder as it is now. */
      folder,
    }),
    errors: ["not_found", "vault_required", "different_vault", "name_exists", "too_deep", "trashed", ...sharedErrors],
  }),
  /** List folders, newest first. */
  list: endpoint({
    ...member,
    id: "folders.list",
    method: "GET",
    path: "/api/folders",
    scope: "folders:read",
    vaultLimit: "filter",
    effect: "read",
    query: strictObject({
      ...pageQuery,
      /** UUID of the only vault to list. Default: every vault you may read. */
      vaultId: z.optional(uuid),
      /** Lists only what this folder holds; `root` is the top of a vault. Default: every folder. */
      parentId: z.optional(folderOrRoot),
      /** `true`: only items in the trash. Default: `false`, only items outside it. */
      trashed: z.optional(booleanText),
      /** Lists only this exact name. Default: every name. */
      name: z.optional(itemName),
      /** Blind index of a name in a shared vault: 32 lower-case hex digits. Default: every name. */
      nameIndex: z.optional(nameIndex),
      /** Lists only ids that begin with these 8 or more hex digits, dashes or not. Default: every id. */
      idPrefix,
    }),
    status: 200,
    output: object({
      /** Folders, newest first. */
      folders: z.array(folder),
      ...nextPage,
    }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  /** One folder. */
  get: endpoint({
    ...member,
    id: "folders.get",
    method: "GET",
    path: "/api/folders/{folderId}",
    scope: "folders:read",
    vaultLimit: "object",
    effect: "read",
    params: folderParams,
    status: 200,
    output: object({
      /** The folder as it is now. */
      folder,
    }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  /** Rename a folder, or move it inside its vault (parentId null: to the top). */
  update: endpoint({
    ...write,
    keyed: true,
    id: "folders.update",
    method: "PATCH",
    path: "/api/folders/{folderId}",
    effect: "update",
    params: folderParams,
    headers: object({
      /** Acts only while it has this entity tag: its revision in quotes, or the tag that a client computed of it. Otherwise: 412. Default: always. */
      "if-match": z.optional(condition),
    }),
    body: strictObject({
      /** New name. Default: unchanged. */
      name: z.optional(itemName),
      /** UUID of the folder to move to. null: the top of the vault. Default: unchanged. */
      parentId: z.optional(z.nullable(uuid)),
      /** Signed and encrypted name and place, in a shared vault. Default: none, in a public one. */
      shared: z.optional(sharedEntry),
    }),
    status: 200,
    output: object({
      /** The folder as it is now. */
      folder,
    }),
    errors: [
      "not_found",
      "name_exists",
      "precondition_failed",
      "too_deep",
      "folder_cycle",
      "different_vault",
      "trashed",
      ...sharedErrors,
    ],
  }),
  /** Move a folder and all below it to the trash, in one act. */
  delete: endpoint({
    ...write,
    keyed: true,
    id: "folders.delete",
    method: "DELETE",
    path: "/api/folders/{folderId}",
    effect: "delete",
    params: folderParams,
    headers: object({
      /** Acts only while it has this entity tag: its revision in quotes, or the tag that a client computed of it. Otherwise: 412. Default: always. */
      "if-match": z.optional(condition),
    }),
    status: 200,
    output: object({
      /** The folder as it is now. */
      folder,
    }),
    errors: ["not_found", "precondition_failed", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  /** Bring a folder back from the trash with all that went there with it. */
  restore: endpoint({
    ...write,
    keyed: true,
    id: "folders.restore",
    method: "POST",
    path: "/api/folders/{folderId}/restore",
    effect: "update",
    params: folderParams,
    headers: object({
      /** Acts only while it has this entity tag: its revision in quotes, or the tag that a client computed of it. Otherwise: 412. Default: always. */
      "if-match": z.optional(condition),
    }),
    body: strictObject({
      /** Another name, if the old one is taken. Default: the old name. */
      name: z.optional(itemName),
      /** Signed and encrypted name and place, in a shared vault. Default: none, in a public one. */
      shared: z.optional(sharedEntry),
    }),
    bodyOptional: true,
    status: 200,
    output: object({
      /** The folder as it is now. */
      folder,
    }),
    errors: ["not_found", "not_trashed", "name_exists", "precondition_failed", ...sharedErrors],
  }),
} as const;
