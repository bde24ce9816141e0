import * as z from "zod/mini";
import { bytes, endpoint } from "./endpoint.ts";
import { folderOrRoot } from "./folders.ts";
import { ownerProof } from "./proofs.ts";
import { nameIndex, sharedContentErrors, sharedEntry, sharedFile, sharedHeaders } from "./shared-entries.ts";
import {
  author,
  booleanText,
  condition,
  idPrefix,
  itemName,
  mediaType,
  pageOf,
  pageQuery,
  revision,
  sha256Hex,
  timestamp,
  uuid,
} from "./values.ts";
import { OWNER_PROOF_ERRORS } from "./vaults.ts";

/** A file's metadata. `size` and `sha256` describe the stored bytes. */
export const file = z.object({
  id: uuid,
  /** New for every content version. */
  versionId: uuid,
  revision,
  /** "" where only members can read the name: then `shared` has it. */
  name: z.string(),
  size: z.int(),
  contentType: z.string(),
  sha256: sha256Hex,
  vaultId: uuid,
  /** null: at the top of the vault. */
  folderId: z.nullable(uuid),
  encrypted: z.boolean(),
  /** What a file of a shared vault carries; null in a public one. */
  shared: z.nullable(sharedFile),
  createdAt: timestamp,
  updatedAt: timestamp,
  createdBy: author,
  updatedBy: author,
  trashedAt: z.nullable(timestamp),
});

export interface File extends z.infer<typeof file> {}

const fileParams = z.object({ fileId: uuid });
const member = { auth: "credential", access: "agent", vaultLimit: "object" } as const;
const write = { ...member, scope: "files:write" } as const;
const read = { ...member, scope: "files:read" } as const;

/** Digests a sender may add (RFC 9530); a mismatch stores nothing. */
const digestHeaders = {
  "content-type": z.optional(mediaType),
  "content-digest": z.optional(z.string().check(z.maxLength(2048))),
  "repr-digest": z.optional(z.string().check(z.maxLength(2048))),
  ...sharedHeaders,
};

const contentHeaders = z.object({
  range: z.optional(z.string().check(z.maxLength(2048))),
  "if-range": z.optional(condition),
  "if-none-match": z.optional(condition),
  "if-match": z.optional(condition),
});

const contentQuery = z.strictObject({
  /**
   * This version and no other: the current one, or one that is kept. In a shared vault the owner also reads the current version of a file in its trash by it.
   */
  versionId: z.optional(uuid),
});

const contentErrors = [
  "not_found",
  "range_not_satisfiable",
  "precondition_failed",
  "trashed",
  "not_a_member",
  "membership_ended",
  "chain_unavailable",
] as const;

const uploadErrors = [
  "not_found",
  "name_exists",
  "precondition_failed",
  "digest_mismatch",
  "body_truncated",
  "request_timeout",
  "storage_quota",
  "budget_storage",
  "file_too_large",
  "disk_full",
  ...sharedContentErrors,
] as const;

export const filesGroup = {
  upload: endpoint({
    ...write,
    id: "files.upload",
    method: "POST",
    path: "/api/files",
    effect: "create",
    query: z.strictObject({
      vaultId: z.optional(uuid),
      folderId: z.optional(uuid),
      /** Optional in multipart, where the part's file name serves; refused in a shared vault with encrypted names. */
      name: z.optional(itemName),
    }),
    headers: z.object({ ...digestHeaders, "if-none-match": z.optional(z.enum(["*"])) }),
    body: bytes(),
    status: 201,
    output: z.object({ file }),
    errors: [...uploadErrors, "vault_required", "different_vault", "trashed"],
  }),
  list: endpoint({
    ...read,
    id: "files.list",
    method: "GET",
    path: "/api/files",
    vaultLimit: "filter",
    effect: "read",
    query: z.strictObject({
      ...pageQuery,
      vaultId: z.optional(uuid),
      folderId: z.optional(folderOrRoot),
      trashed: z.optional(booleanText),
      /** The exact name. */
      name: z.optional(itemName),
      /** In a folder of a shared vault: the exact name's blind index. */
      nameIndex: z.optional(nameIndex),
      idPrefix,
    }),
    status: 200,
    output: pageOf("files", file),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  get: endpoint({
    ...read,
    id: "files.get",
    method: "GET",
    path: "/api/files/{fileId}",
    effect: "read",
    params: fileParams,
    status: 200,
    output: z.object({ file }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  content: endpoint({
    ...read,
    id: "files.content",
    method: "GET",
    path: "/api/files/{fileId}/content",
    effect: "read",
    params: fileParams,
    query: contentQuery,
    headers: contentHeaders,
    status: 200,
    otherStatuses: [206, 304],
    output: bytes(),
    errors: [...contentErrors],
  }),
  contentHead: endpoint({
    ...read,
    id: "files.contentHead",
    method: "HEAD",
    path: "/api/files/{fileId}/content",
    effect: "read",
    params: fileParams,
    query: contentQuery,
    headers: contentHeaders,
    status: 200,
    otherStatuses: [206, 304],
    errors: [...contentErrors],
  }),
  replace: endpoint({
    ...write,
    keyed: true,
    id: "files.replace",
    method: "PUT",
    path: "/api/files/{fileId}/content",
    effect: "update",
    params: fileParams,
    query: z.strictObject({
      /** false: the content before is gone at once. For the owner alone, in a public vault. */
      keep: z.optional(booleanText),
    }),
    headers: z.object({ ...digestHeaders, "if-match": z.optional(condition) }),
    body: bytes(),
    status: 200,
    output: z.object({ file }),
    errors: [...uploadErrors, "trashed", "owner_only"],
  }),
  update: endpoint({
    ...write,
    keyed: true,
    id: "files.update",
    method: "PATCH",
    path: "/api/files/{fileId}",
    effect: "update",
    params: fileParams,
    headers: z.object({ "if-match": z.optional(condition) }),
    body: z.strictObject({
      name: z.optional(itemName),
      folderId: z.optional(z.nullable(uuid)),
      /** In a shared vault: the statement of the new name and place. */
      shared: z.optional(sharedEntry),
    }),
    status: 200,
    output: z.object({ file }),
    errors: ["not_found", "name_exists", "precondition_failed", "different_vault", "trashed", ...sharedContentErrors],
  }),
  delete: endpoint({
    ...write,
    keyed: true,
    id: "files.delete",
    method: "DELETE",
    path: "/api/files/{fileId}",
    effect: "delete",
    params: fileParams,
    query: z.strictObject({ permanent: z.optional(booleanText) }),
    headers: z.object({ "coffer-proof": z.optional(ownerProof), "if-match": z.optional(condition) }),
    status: 200,
    otherStatuses: [204],
    output: z.object({ file }),
    errors: [
      "not_found",
      "precondition_failed",
      "owner_only",
      "not_a_member",
      "membership_ended",
      ...OWNER_PROOF_ERRORS,
    ],
  }),
  restore: endpoint({
    ...write,
    keyed: true,
    id: "files.restore",
    method: "POST",
    path: "/api/files/{fileId}/restore",
    effect: "update",
    params: fileParams,
    headers: z.object({ "if-match": z.optional(condition) }),
    body: z.strictObject({ name: z.optional(itemName), shared: z.optional(sharedEntry) }),
    bodyOptional: true,
    status: 200,
    output: z.object({ file }),
    errors: ["not_found", "not_trashed", "name_exists", "precondition_failed", ...sharedContentErrors],
  }),
} as const;
