import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
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
  nextPage,
  pageQuery,
  revision,
  sha256Hex,
  timestamp,
  uuid,
} from "./values.ts";
import { OWNER_PROOF_ERRORS } from "./vaults.ts";

/** A file's metadata. `size` and `sha256` describe the stored bytes. */
export const fileSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** UUID of the content. Every new content gets a new one. */
  versionId: uuid,
  /** Raised by every rename, move, trash and restore. A change can name it in `If-Match`, to act on no other. */
  revision,
  /** Name of the file. "": only members can read it. */
  name: z.string(),
  /** Stored bytes, after encryption. */
  size: z.int(),
  /** Media type, such as `text/plain`. */
  contentType: z.string(),
  /** SHA-256 of the stored bytes: 64 lower-case hex digits. */
  sha256: sha256Hex,
  /** UUID of the vault. */
  vaultId: uuid,
  /** UUID of the folder. null: the top of the vault. */
  folderId: z.nullable(uuid),
  /** Whether the stored bytes are encrypted by the client. */
  encrypted: z.boolean(),
  /** What members signed and encrypted. null: in a public vault. */
  shared: z.nullable(sharedFile),
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
});

/** A file's metadata. `size` and `sha256` describe the stored bytes. */
export interface File extends Parsed<typeof fileSchema> {}

export const file: Named<File> = fileSchema;

const fileParams = object({
  /** UUID of the file. */
  fileId: uuid,
});
const member = { auth: "credential", access: "agent", vaultLimit: "object" } as const;
const write = { ...member, scope: "files:write" } as const;
const read = { ...member, scope: "files:read" } as const;

/** Digests a sender may add (RFC 9530); a mismatch stores nothing. */
const digestHeaders = {
  /** Media type of the body. Default: `application/octet-stream`. */
  "content-type": z.optional(mediaType),
  /** Digest of the body (RFC 9530), such as `sha-256=:…:`. A mismatch stores nothing. Default: not checked. */
  "content-digest": z.optional(z.string().check(z.maxLength(2048))),
  /** Digest of the file (RFC 9530), such as `sha-256=:…:`. A mismatch stores nothing. Default: not checked. */
  "repr-digest": z.optional(z.string().check(z.maxLength(2048))),
  ...sharedHeaders,
};

const contentHeaders = object({
  /** Bytes to send, such as `bytes=0-1023`. Default: the whole content. */
  range: z.optional(z.string().check(z.maxLength(2048))),
  /** Entity tag: sends the range only when the content still has it. Otherwise the whole content. Default: always the range. */
  "if-range": z.optional(condition),
  /** Answers 304 when the content still has this entity tag. Default: always sends the content. */
  "if-none-match": z.optional(condition),
  /** Acts only when the content still has this entity tag. Otherwise: 412. Default: always. */
  "if-match": z.optional(condition),
});

const contentQuery = strictObject({
  /** UUID of one content: reads this content and no other. Default: the current content. */
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
  /** Store the body as a new file; raw bytes of any media type, or one file part of multipart/form-data. */
  upload: endpoint({
    ...write,
    id: "files.upload",
    method: "POST",
    path: "/api/files",
    effect: "create",
    query: strictObject({
      /** UUID of the vault. Default: the vault of `folderId`, else your default vault (`isDefault`), which is public. */
      vaultId: z.optional(uuid),
      /** UUID of the folder. Default: the top of the vault. */
      folderId: z.optional(uuid),
      /** Name of the file. A multipart upload takes the part's file name by default. */
      name: z.optional(itemName),
    }),
    headers: object({
      ...digestHeaders,
      /** `*`: stores only when nothing has the name yet, else 412. Default: a name that is taken answers 409. */
      "if-none-match": z.optional(z.enum(["*"])),
    }),
    body: bytes(),
    status: 201,
    output: object({
      /** The file as it is now. */
      file,
    }),
    errors: [...uploadErrors, "vault_required", "different_vault", "trashed"],
  }),
  /** List files, newest first. */
  list: endpoint({
    ...read,
    id: "files.list",
    method: "GET",
    path: "/api/files",
    vaultLimit: "filter",
    effect: "read",
    query: strictObject({
      ...pageQuery,
      /** UUID of the only vault to list. Default: every vault you may read. */
      vaultId: z.optional(uuid),
      /** Lists only this folder; `root` is the top of a vault. Default: every folder. */
      folderId: z.optional(folderOrRoot),
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
      /** Files, newest first. */
      files: z.array(file),
      ...nextPage,
    }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  /** One file's metadata. */
  get: endpoint({
    ...read,
    id: "files.get",
    method: "GET",
    path: "/api/files/{fileId}",
    effect: "read",
    params: fileParams,
    status: 200,
    output: object({
      /** The file as it is now. */
      file,
    }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  /** The bytes, whole or one range (RFC 9110 §14). */
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
  /** The headers of the bytes: size, ETag, digest. */
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
  /** Store the body as the file's new version and keep the old one; If-Match guards against a lost update. */
  replace: endpoint({
    ...write,
    keyed: true,
    id: "files.replace",
    method: "PUT",
    path: "/api/files/{fileId}/content",
    effect: "update",
    params: fileParams,
    query: strictObject({
      /** `false`: gives up the content before at once; its bytes leave the server's disk 24 hours later. Owner only, in a public vault. Default: `true`. */
      keep: z.optional(booleanText),
    }),
    headers: object({
      ...digestHeaders,
      /** Acts only while the content has this entity tag, or the file the tag that a client computed of it. Otherwise: 412. Default: always. */
      "if-match": z.optional(condition),
    }),
    body: bytes(),
    status: 200,
    output: object({
      /** The file as it is now. */
      file,
    }),
    errors: [...uploadErrors, "trashed", "owner_only"],
  }),
  /** Rename a file, or move it inside its vault (folderId null: to the top). */
  update: endpoint({
    ...write,
    keyed: true,
    id: "files.update",
    method: "PATCH",
    path: "/api/files/{fileId}",
    effect: "update",
    params: fileParams,
    headers: object({
      /** Acts only while it has this entity tag: its revision in quotes, or the tag that a client computed of it. Otherwise: 412. Default: always. */
      "if-match": z.optional(condition),
    }),
    body: strictObject({
      /** New name. Default: unchanged. */
      name: z.optional(itemName),
      /** UUID of the folder to move to. null: the top of the vault. Default: unchanged. */
      folderId: z.optional(z.nullable(uuid)),
      /** Signed and encrypted name and place, in a shared vault. Default: none, in a public one. */
      shared: z.optional(sharedEntry),
    }),
    status: 200,
    output: object({
      /** The file as it is now. */
      file,
    }),
    errors: ["not_found", "name_exists", "precondition_failed", "different_vault", "trashed", ...sharedContentErrors],
  }),
  /** Move a file to the trash; the owner may delete for good with permanent=true (204). The bytes leave the server's disk 24 hours later. */
  delete: endpoint({
    ...write,
    keyed: true,
    id: "files.delete",
    method: "DELETE",
    path: "/api/files/{fileId}",
    effect: "delete",
    params: fileParams,
    query: strictObject({
      /** `true`: deletes for good, with no way back. The bytes leave the server's disk 24 hours later. Default: `false`, to the trash. */
      permanent: z.optional(booleanText),
    }),
    headers: object({
      /** Nonce of a deletion challenge, a dot, and the owner's signature. Default: none, in a public vault. */
      "coffer-proof": z.optional(ownerProof),
      /** Acts only while it has this entity tag: its revision in quotes, or the tag that a client computed of it. Otherwise: 412. Default: always. */
      "if-match": z.optional(condition),
    }),
    status: 200,
    otherStatuses: [204],
    output: object({
      /** The file as it is now. */
      file,
    }),
    errors: [
      "not_found",
      "precondition_failed",
      "owner_only",
      "not_a_member",
      "membership_ended",
      ...OWNER_PROOF_ERRORS,
    ],
  }),
  /** Bring a file back from the trash; to the top of the vault when its folder is gone. */
  restore: endpoint({
    ...write,
    keyed: true,
    id: "files.restore",
    method: "POST",
    path: "/api/files/{fileId}/restore",
    effect: "update",
    params: fileParams,
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
      /** The file as it is now. */
      file,
    }),
    errors: ["not_found", "not_trashed", "name_exists", "precondition_failed", ...sharedContentErrors],
  }),
} as const;
