/** Versions of files (decision 0050). */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { file } from "./files.ts";
import { ownerProof } from "./proofs.ts";
import { sharedFile } from "./shared-entries.ts";
import { author, condition, openEnum, nextPage, pageQuery, sha256Hex, timestamp, uuid } from "./values.ts";
import { OWNER_PROOF_ERRORS } from "./vaults.ts";

/** How a version came. */
export const VERSION_SOURCES = ["upload", "replace", "restore"] as const;

/** A content that the file has, or had and keeps. */
const fileVersionSchema = object({
  /** Place in the file's past, from 1. Numbers of versions that are gone are missing. */
  number: z.int(),
  /** UUID of the content. Every new content gets a new one. */
  versionId: uuid,
  /** Stored bytes, after encryption. */
  size: z.int(),
  /** Media type, such as `text/plain`. */
  contentType: z.string(),
  /** SHA-256 of the stored bytes: 64 lower-case hex digits. */
  sha256: sha256Hex,
  /** The caller that made it, with its credential as it was then. A member of another account has its address alone. null: not noted. */
  author,
  /** How it came: `upload`, `replace` or `restore`. */
  how: openEnum(VERSION_SOURCES),
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
  /** When it is deleted: RFC 3339 in UTC. null: the current version, which stays. */
  expiresAt: z.nullable(timestamp),
  /** What members signed: the version, and the name that the file had until it was replaced. null: in a public vault. */
  shared: z.nullable(sharedFile),
});

/** A content that a file has, or had and keeps. */
export interface FileVersion extends Parsed<typeof fileVersionSchema> {}

export const fileVersion: Named<FileVersion> = fileVersionSchema;

const fileParams = object({
  /** UUID of the file. */
  fileId: uuid,
});
const versionParams = object({
  /** UUID of the file. */
  fileId: uuid,
  /** UUID of the kept version. */
  versionId: uuid,
});
/** The name is another one because the answer has a `versionId` of its own. */
const sourceParams = object({
  /** UUID of the file. */
  fileId: uuid,
  /** UUID of the kept version whose content comes back. */
  sourceId: uuid,
});
const member = { auth: "credential", vaultLimit: "object" } as const;

const memberErrors = ["not_a_member", "membership_ended", "chain_unavailable"] as const;

/** Belongs to `files`. */
export const versionsGroup = {
  /** Versions of a file, newest first; the first is the current one. */
  versions: endpoint({
    ...member,
    access: "agent",
    scope: "files:read",
    id: "files.versions",
    method: "GET",
    path: "/api/files/{fileId}/versions",
    effect: "read",
    params: fileParams,
    query: strictObject(pageQuery),
    status: 200,
    output: object({
      /** Versions, newest first. The first is the current one. */
      versions: z.array(fileVersion),
      ...nextPage,
    }),
    errors: ["not_found", ...memberErrors],
  }),
  /** In a public vault: make a kept version's content the newest version again. */
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
    headers: object({
      /** Acts only while the content has this entity tag, or the file the tag that a client computed of it. Otherwise: 412. Default: always. */
      "if-match": z.optional(condition),
    }),
    body: strictObject({}),
    bodyOptional: true,
    status: 200,
    output: object({
      /** The file as it is now. */
      file,
    }),
    errors: ["not_found", "trashed", "precondition_failed", ...memberErrors],
  }),
  /** In a public vault: delete a kept version for good. Its bytes leave the server's disk 24 hours later. */
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
    headers: object({
      /** Nonce of a deletion challenge, a dot, and the owner's signature. Default: none, in a public vault. */
      "coffer-proof": z.optional(ownerProof),
    }),
    status: 204,
    errors: ["not_found", "current_version", "not_a_member", "membership_ended", ...OWNER_PROOF_ERRORS],
  }),
} as const;
