/** Many small files in one request (decision 0055). Clients load it when they need it. */
import * as z from "zod/mini";
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
export const batchPart = z.strictObject({
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
export const partError = z.object({
  code: openEnum(Object.keys(ERROR_FACTS) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
});

export interface PartError extends z.infer<typeof partError> {}

/** One of both is null. */
const batchResult = z.object({ file: z.nullable(file), error: z.nullable(partError) });

/** Belongs to `files`. */
export const batchesGroup = {
  batch: endpoint({
    auth: "credential",
    access: "agent",
    vaultLimit: "object",
    scope: "files:write",
    id: "files.batch",
    method: "POST",
    path: "/api/files/batch",
    effect: "create",
    query: z.strictObject({ vaultId: z.optional(uuid) }),
    /** With the boundary. */
    headers: z.object({ "content-type": z.string().check(z.maxLength(256)) }),
    body: bytes("multipart/form-data"),
    status: 200,
    /** In the order of the parts. Every file of it is durable. */
    output: z.object({ results: z.array(batchResult) }),
    errors: ["not_found", "vault_required", "body_too_large", "storage_quota", "disk_full", ...sharedContentErrors],
  }),
} as const;
