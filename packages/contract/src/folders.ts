import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { nameIndex, sharedErrors, sharedEntry } from "./shared-entries.ts";
import {
  author,
  booleanText,
  condition,
  idPrefix,
  itemName,
  pageOf,
  pageQuery,
  revision,
  timestamp,
  uuid,
} from "./values.ts";

export const MAX_FOLDER_DEPTH = 32;

/** `root` names the top of a vault where a folder id is expected. */
export const folderOrRoot = z.union([z.enum(["root"]), uuid]);

export const folder = z.object({
  id: uuid,
  revision,
  /** "" where only members can read the name: then `shared` has it. */
  name: z.string(),
  vaultId: uuid,
  /** null: at the top of the vault. */
  parentId: z.nullable(uuid),
  createdAt: timestamp,
  updatedAt: timestamp,
  createdBy: author,
  updatedBy: author,
  trashedAt: z.nullable(timestamp),
  /** What a folder of a shared vault carries; null in a public one. */
  shared: z.nullable(sharedEntry),
});

export interface Folder extends z.infer<typeof folder> {}

const folderParams = z.object({ folderId: uuid });
const member = { auth: "credential", access: "agent" } as const;
const write = { ...member, scope: "folders:write", vaultLimit: "object" } as const;

export const foldersGroup = {
  create: endpoint({
    ...write,
    id: "folders.create",
    method: "POST",
    path: "/api/folders",
    effect: "create",
    body: z.strictObject({
      /** Required, except in shared vaults with encrypted names, which refuse it. */
      name: z.optional(itemName),
      vaultId: z.optional(uuid),
      parentId: z.optional(z.nullable(uuid)),
      /** In a shared vault; the statement names the folder's id, which its client chose. */
      shared: z.optional(sharedEntry),
    }),
    status: 201,
    output: z.object({ folder }),
    errors: ["not_found", "vault_required", "different_vault", "name_exists", "too_deep", "trashed", ...sharedErrors],
  }),
  list: endpoint({
    ...member,
    id: "folders.list",
    method: "GET",
    path: "/api/folders",
    scope: "folders:read",
    vaultLimit: "filter",
    effect: "read",
    query: z.strictObject({
      ...pageQuery,
      vaultId: z.optional(uuid),
      parentId: z.optional(folderOrRoot),
      trashed: z.optional(booleanText),
      name: z.optional(itemName),
      /** In a folder of a shared vault: the exact name's blind index. */
      nameIndex: z.optional(nameIndex),
      idPrefix,
    }),
    status: 200,
    output: pageOf("folders", folder),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
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
    output: z.object({ folder }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  update: endpoint({
    ...write,
    keyed: true,
    id: "folders.update",
    method: "PATCH",
    path: "/api/folders/{folderId}",
    effect: "update",
    params: folderParams,
    headers: z.object({ "if-match": z.optional(condition) }),
    body: z.strictObject({
      name: z.optional(itemName),
      parentId: z.optional(z.nullable(uuid)),
      /** In a shared vault: the statement of the new name and place. */
      shared: z.optional(sharedEntry),
    }),
    status: 200,
    output: z.object({ folder }),
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
  delete: endpoint({
    ...write,
    keyed: true,
    id: "folders.delete",
    method: "DELETE",
    path: "/api/folders/{folderId}",
    effect: "delete",
    params: folderParams,
    headers: z.object({ "if-match": z.optional(condition) }),
    status: 200,
    output: z.object({ folder }),
    errors: ["not_found", "precondition_failed", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  restore: endpoint({
    ...write,
    keyed: true,
    id: "folders.restore",
    method: "POST",
    path: "/api/folders/{folderId}/restore",
    effect: "update",
    params: folderParams,
    headers: z.object({ "if-match": z.optional(condition) }),
    body: z.strictObject({ name: z.optional(itemName), shared: z.optional(sharedEntry) }),
    bodyOptional: true,
    status: 200,
    output: z.object({ folder }),
    errors: ["not_found", "not_trashed", "name_exists", "precondition_failed", ...sharedErrors],
  }),
} as const;
