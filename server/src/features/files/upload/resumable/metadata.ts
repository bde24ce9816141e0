/** Upload-Metadata (tus 1.0.0, "Creation"): `key base64` pairs, read strictly, so that a typing error loses no name. */
import { itemName, mediaType, sharedHeaders, uuid } from "@coffer/contract";
import * as z from "zod/mini";
import { ServiceError } from "../../../../service-error.ts";

const metadata = z.strictObject({
  filename: z.optional(itemName),
  filetype: z.optional(mediaType),
  vaultId: z.optional(uuid),
  folderId: z.optional(uuid),
  /** The upload makes a new version of this file; no other place or name goes with it. */
  fileId: z.optional(uuid),
  /** "false": the content before is gone once the upload is done. For the owner alone, in a public vault. */
  keep: z.optional(z.enum(["true", "false"])),
  /** "true": the bytes wait for a commit, which makes the version of them. */
  held: z.optional(z.enum(["true"])),
  /** In a shared vault: the texts that an upload in one request has in its headers. */
  version: sharedHeaders["coffer-version"],
  entry: sharedHeaders["coffer-entry"],
  metadata: sharedHeaders["coffer-metadata"],
  nameIndex: sharedHeaders["coffer-name-index"],
  restores: sharedHeaders["coffer-restores"],
});

export type UploadMetadata = z.infer<typeof metadata>;

/** Throws `validation_failed` for what is not tus metadata, for unknown keys, and for values that are not of their kind. */
export function parseMetadata(header: string | undefined): UploadMetadata {
  // Without a prototype `__proto__` is a key like any other, and refused like any unknown one.
  const pairs = Object.create(null) as Record<string, string>;
  for (const pair of header === undefined || header.trim() === "" ? [] : header.split(",")) {
    const [key = "", encoded = "", ...rest] = pair.trim().split(" ");
    if (!/^[\x21-\x2b\x2d-\x7e]+$/.test(key) || rest.length > 0)
      throw invalid("expected pairs of a key and its value in base64");
    if (Object.hasOwn(pairs, key)) throw invalid("a key is there twice");
    pairs[key] = decodeValue(encoded);
  }
  const result = z.safeParse(metadata, pairs);
  if (result.success) return refuseContradictions(result.data);
  const issue = result.error.issues[0];
  throw invalid([...(issue?.path ?? []).map(String), issue?.message ?? "not valid"].join(": "));
}

export function renderMetadata(values: Readonly<Record<string, string | null>>): string {
  return Object.entries(values)
    .flatMap(([key, value]) => (value === null ? [] : [`${key} ${Buffer.from(value).toString("base64")}`]))
    .join(",");
}

function refuseContradictions(given: UploadMetadata): UploadMetadata {
  if (given.fileId === undefined) {
    if (given.filename === undefined && given.version === undefined) throw invalid("filename is required");
    if (given.keep !== undefined) throw invalid("keep needs the fileId of the file that gets the content");
    if (given.held !== undefined) throw invalid("held needs the fileId of the file that gets the content");
  } else if (given.vaultId !== undefined || given.folderId !== undefined || given.filename !== undefined) {
    throw invalid("fileId names the file: leave out filename, vaultId and folderId");
  } else if (given.held !== undefined && given.keep !== undefined) {
    throw invalid("keep: a commit always keeps what is replaced");
  }
  return given;
}

function decodeValue(encoded: string): string {
  const bytes = Buffer.from(encoded, "base64");
  // Node's decoder skips unknown characters: only text that encodes back to itself is base64 (RFC 4648 §3.3, §3.5).
  if (bytes.toString("base64") !== encoded) throw invalid("a value is not base64");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ServiceError("validation_failed", "headers.upload-metadata: a value is not UTF-8", { cause });
  }
}

function invalid(reason: string): ServiceError {
  return new ServiceError("validation_failed", `headers.upload-metadata: ${reason}`);
}
