/** Versions of files (decision 0050). Clients load it when they need it. */
import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { file } from "./files.ts";
import { ownerProof } from "./proofs.ts";
import { sharedFile } from "./shared-entries.ts";
import { author, condition, openEnum, pageOf, pageQuery, sha256Hex, timestamp, uuid } from "./values.ts";
import { OWNER_PROOF_ERRORS } from "./vaults.ts";

/** How a version came. */
export const VERSION_SOURCES = ["upload", "replace", "restore"] as const;

/** A content that the file has, or had and keeps. */
export const fileVersion = z.object({
  /** The first is 1. Numbers of versions that are gone are missing. */
  number: z.int(),
  versionId: uuid,
  size: z.int(),
  contentType: z.string(),
  sha256: sha256Hex,
  author,
  how: openEnum(VERSION_SOURCES),
  createdAt: timestamp,
  /** null: the current version. */
  expiresAt: z.nullable(timestamp),
  /** What members signed: the version, and the name that the file had until it was replaced. null: in a public vault. */
  shared: z.nullable(sharedFile),
});

export interface FileVersion extends z.infer<typeof fileVersion> {}

const fileParams = z.object({ fileId: uuid });
const versionParams = z.object({ fileId: uuid, versionId: uuid });
/** The name is another one because the answer has a `versionId` of its own. */
const sourceParams = z.object({ fileId: uuid, sourceId: uuid });
const member = { auth: "credential", vaultLimit: "object" } as const;

const memberErrors = ["not_a_member", "membership_ended", "chain_unavailable"] as const;

/** Belongs to `files`. */
export const versionsGroup = {
  versions: endpoint({
    ...member,
    access: "agent",
    scope: "files:read",
    id: "files.versions",
    method: "GET",
    path: "/api/files/{fileId}/versions",
    effect: "read",
    params: fileParams,
    query: z.strictObject(pageQuery),
    status: 200,
    output: pageOf("versions", fileVersion),
    errors: ["not_found", ...memberErrors],
  }),
  restoreVersion: endpoint({
    ...member,
    keyed: true,
    access: "agent",
    scope: "files:write",
    id: "files.restoreVersion",
    method: "POST",
    path: "/api/files/{fileId}/versions/{sourceId}/restore",
    effect: "update",
    params: sourceParams,
    headers: z.object({ "if-match": z.optional(condition) }),
    body: z.strictObject({}),
    bodyOptional: true,
    status: 200,
    output: z.object({ file }),
    errors: ["not_found", "trashed", "precondition_failed", ...memberErrors],
  }),
  deleteVersion: endpoint({
    ...member,
    keyed: true,
    access: "owner",
    scope: "files:write",
    id: "files.deleteVersion",
    method: "DELETE",
    path: "/api/files/{fileId}/versions/{versionId}",
    effect: "delete",
    params: versionParams,
    headers: z.object({ "coffer-proof": z.optional(ownerProof) }),
    status: 204,
    errors: ["not_found", "current_version", "not_a_member", "membership_ended", ...OWNER_PROOF_ERRORS],
  }),
} as const;
