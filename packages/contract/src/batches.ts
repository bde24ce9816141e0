/** Many small files in one request (decision 0055). */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { ERROR_FACTS, type ErrorCode } from "./error-codes.ts";
import { bytes, endpoint } from "./endpoint.ts";
import { file } from "./files.ts";
import { sharedContentErrors, sharedFile } from "./shared-entries.ts";
import { itemName, mediaType, openEnum, uuid } from "./values.ts";

/** Files of one batch. */
export const MAX_BATCH_FILES = 100;
/** Content of all files of a batch, in bytes. */
export const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** The header of a part, lower case. Its value is the JSON of a {@link batchPart}, with every character beyond ASCII escaped. */
export const PART_HEADER = "coffer-file";
/** Characters of that header. */
export const MAX_PART_HEADER = 8192;

const digest = z.optional(z.string().check(z.maxLength(2048)));

/** What a single upload says in its query and headers. The vault is the batch's. */
export const batchPart = strictObject({
  /** In the batch's vault. */
  folderId: z.optional(uuid),
  /** Left out in a shared vault with encrypted names, and only there. */
  name: z.optional(itemName),
  contentType: z.optional(mediaType),
  contentDigest: digest,
  reprDigest: digest,
  ifNoneMatch: z.optional(z.enum(["*"])),
  /** In a shared vault: the signed statements. */
  shared: z.optional(sharedFile),
});

export interface BatchPart extends z.infer<typeof batchPart> {}

/** Why one part of a request with several failed, while others may have succeeded. */
const partErrorSchema = object({
  /** Code of the error catalogue, such as `not_found`. */
  code: openEnum(Object.keys(ERROR_FACTS) as [ErrorCode, ...ErrorCode[]]),
  /** What went wrong and what to do, in one sentence. */
  message: z.string(),
});

/** Why one part of a request with several failed, while others may have succeeded. */
export interface PartError extends Parsed<typeof partErrorSchema> {}

export const partError: Named<PartError> = partErrorSchema;

/** One of both is null. */
const batchResult = object({
  /** The file as it is now. */
  file: z.nullable(file),
  /** Why it was not done. null: it is done and durable. */
  error: z.nullable(partError),
});

/** Belongs to `files`. */
export const batchesGroup = {
  /** Store up to 100 small files of one vault, each a part with the header Coffer-File (JSON); each has its own result. */
  batch: endpoint({
    auth: "credential",
    access: "agent",
    vaultLimit: "object",
    scope: "files:write",
    id: "files.batch",
    method: "POST",
    path: "/api/files/batch",
    effect: "create",
    query: strictObject({
      /** UUID of the vault of all files. Default: as in an upload, that of the first file. */
      vaultId: z.optional(uuid),
    }),
    /** With the boundary. */
    headers: object({
      /** `multipart/form-data` with its boundary. */
      "content-type": z.string().check(z.maxLength(256)),
    }),
    body: bytes("multipart/form-data"),
    status: 200,
    /** In the order of the parts. Every file of it is durable. */
    output: object({
      /** What became of each part, in the order of the parts. */
      results: z.array(batchResult),
    }),
    errors: ["not_found", "vault_required", "body_too_large", "storage_quota", "disk_full", ...sharedContentErrors],
  }),
} as const;
