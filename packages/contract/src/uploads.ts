import * as z from "zod/mini";
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
const uploadParams = z.object({ uploadId: uuid });
const write = { auth: "credential", access: "agent", scope: "files:write", vaultLimit: "object" } as const;
const tusResumable = { "tus-resumable": z.optional(z.string().check(z.maxLength(32))) };
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
  create: endpoint({
    ...write,
    id: "uploads.create",
    method: "POST",
    path: "/api/uploads",
    effect: "create",
    headers: z.object({
      ...tusResumable,
      "upload-length": integerText(0, MAX_UPLOAD),
      /**
       * tus metadata: `filename`, `filetype`, `vaultId`, `folderId`, or `fileId` for a new version; values in base64.
       * With `fileId`, `keep` is "false" where the content before is to be given up.
       * In a shared vault `version`, `entry`, `metadata` and `nameIndex` come with it. `filename` and `filetype` are
       * absent where names are encrypted.
       */
      "upload-metadata": z.optional(z.string().check(z.maxLength(8192))),
      "upload-checksum": checksum,
      "if-none-match": z.optional(z.enum(["*"])),
      "if-match": z.optional(z.string().check(z.maxLength(2048))),
    }),
    body: bytes(TUS_PART_TYPE),
    bodyOptional: true,
    status: 201,
    errors: [...partErrors, "vault_required", "different_vault"],
  }),
  head: endpoint({
    ...write,
    id: "uploads.head",
    method: "HEAD",
    path: "/api/uploads/{uploadId}",
    effect: "read",
    params: uploadParams,
    headers: z.object(tusResumable),
    status: 200,
    /** If all bytes of an upload are there, it makes its file now. A kill or a refusal may have prevented it before. */
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
  append: endpoint({
    ...write,
    id: "uploads.append",
    method: "PATCH",
    path: "/api/uploads/{uploadId}",
    effect: "append",
    params: uploadParams,
    headers: z.object({
      ...tusResumable,
      "upload-offset": integerText(0, MAX_UPLOAD),
      "upload-checksum": checksum,
    }),
    body: bytes(TUS_PART_TYPE),
    status: 204,
    errors: [...partErrors, "upload_expired", "unsupported_media_type"],
  }),
  terminate: endpoint({
    ...write,
    id: "uploads.terminate",
    method: "DELETE",
    path: "/api/uploads/{uploadId}",
    effect: "delete",
    params: uploadParams,
    headers: z.object(tusResumable),
    status: 204,
    errors: ["not_found", "upload_expired", "upload_locked", "unsupported_tus_version"],
  }),
} as const;
