import * as z from "zod/mini";
import { object } from "./object.ts";
import { bytes, endpoint } from "./endpoint.ts";
import { sharedContentErrors } from "./shared-entries.ts";
import { integerText, uuid } from "./values.ts";

/** The version of the tus protocol that the service speaks (tus 1.0.0). */
export const TUS_VERSION = "1.0.0";
export const TUS_EXTENSIONS = ["creation", "creation-with-upload", "checksum", "termination", "expiration"] as const;
/** Digest algorithms of `Upload-Checksum`, strongest first. */
export const TUS_CHECKSUMS = ["sha256", "sha1"] as const;
export const TUS_PART_TYPE = "application/offset+octet-stream";

const MAX_UPLOAD = Number.MAX_SAFE_INTEGER;
const uploadParams = object({
  /** UUID of the upload. */
  uploadId: uuid,
});
const write = { auth: "credential", access: "agent", scope: "files:write", vaultLimit: "object" } as const;
const tusResumable = {
  /** Version of the tus protocol. Default: `1.0.0`. */
  "tus-resumable": z.optional(z.string().check(z.maxLength(32))),
};
const checksum = z.optional(z.string().check(z.maxLength(256)));

const partErrors = [
  "unsupported_tus_version",
  "offset_mismatch",
  "checksum_mismatch",
  "upload_locked",
  "body_truncated",
  "request_timeout",
  "disk_full",
  "not_found",
  "name_exists",
  "precondition_failed",
  "storage_quota",
  "budget_storage",
  "file_too_large",
  "trashed",
  "owner_only",
  ...sharedContentErrors,
] as const;

/** Resumable uploads: tus 1.0.0 with the extensions of {@link TUS_EXTENSIONS}. */
export const uploadsGroup = {
  /** What the tus server can do (Tus-Version, Tus-Extension, Tus-Max-Size). */
  options: endpoint({
    id: "uploads.options",
    method: "OPTIONS",
    path: "/api/uploads",
    auth: "none",
    access: "anyone",
    scope: null,
    vaultLimit: "none",
    effect: "read",
    status: 204,
    errors: [],
  }),
  /** Begin a resumable upload; the body may carry the first bytes. */
  create: endpoint({
    ...write,
    id: "uploads.create",
    method: "POST",
    path: "/api/uploads",
    effect: "create",
    headers: object({
      ...tusResumable,
      /** Bytes of the whole file. */
      "upload-length": integerText(0, MAX_UPLOAD),
      /**
       * tus metadata: names and base64 values. `filename`, `filetype`, `vaultId` and `folderId` of a new file, or `fileId` for a new version.
       * With `fileId`, `keep` is `false` where the content before is given up, and `held` is `true` where the bytes wait for a commit of
       * files (`POST /api/files/commit`), which makes the version of them; such an upload has at most 256 MiB. In a shared vault also
       * `version`, `entry`, `metadata` and `nameIndex`. Default: none of them.
       */
      "upload-metadata": z.optional(z.string().check(z.maxLength(8192))),
      /** Algorithm (`sha256` or `sha1`), a space, and the digest of this body in base64. Default: not checked. */
      "upload-checksum": checksum,
      /** `*`: stores only when nothing has the name yet, else 412. Default: a name that is taken answers 409. */
      "if-none-match": z.optional(z.enum(["*"])),
      /** Acts only while the content has this entity tag, or the file the tag that a client computed of it. Otherwise: 412. Default: always. */
      "if-match": z.optional(z.string().check(z.maxLength(2048))),
    }),
    body: bytes(TUS_PART_TYPE),
    bodyOptional: true,
    status: 201,
    errors: [...partErrors, "vault_required", "different_vault"],
  }),
  /** State of an upload (Upload-Offset: the bytes that are durable). */
  head: endpoint({
    ...write,
    id: "uploads.head",
    method: "HEAD",
    path: "/api/uploads/{uploadId}",
    effect: "read",
    params: uploadParams,
    headers: object(tusResumable),
    status: 200,
    /** If all bytes of an upload are there, it makes its file now, unless it is held. A kill or a refusal may have prevented it before. */
    errors: [
      "not_found",
      "upload_expired",
      "upload_locked",
      "unsupported_tus_version",
      "name_exists",
      "precondition_failed",
      "storage_quota",
      "budget_storage",
      "trashed",
      ...sharedContentErrors,
    ],
  }),
  /** Add bytes at the offset; the last ones make the file and answer its id in File-Id. Those of a held upload make nothing. */
  append: endpoint({
    ...write,
    id: "uploads.append",
    method: "PATCH",
    path: "/api/uploads/{uploadId}",
    effect: "append",
    params: uploadParams,
    headers: object({
      ...tusResumable,
      /** Where this body begins in the file, in bytes. */
      "upload-offset": integerText(0, MAX_UPLOAD),
      /** Algorithm (`sha256` or `sha1`), a space, and the digest of this body in base64. Default: not checked. */
      "upload-checksum": checksum,
    }),
    body: bytes(TUS_PART_TYPE),
    status: 204,
    errors: [...partErrors, "upload_expired", "unsupported_media_type"],
  }),
  /** Give the upload up and free its bytes. */
  terminate: endpoint({
    ...write,
    id: "uploads.terminate",
    method: "DELETE",
    path: "/api/uploads/{uploadId}",
    effect: "delete",
    params: uploadParams,
    headers: object(tusResumable),
    status: 204,
    errors: ["not_found", "upload_expired", "upload_locked", "unsupported_tus_version"],
  }),
} as const;
