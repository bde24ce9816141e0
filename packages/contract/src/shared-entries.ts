/**
 * What files and folders of shared vaults carry beside their ids: statements that clients sign, and names that only
 * members can read.
 */
import * as z from "zod/mini";
import { base64Bytes, uuid } from "./values.ts";

/** 16 bytes in hex: equal names in a folder have equal indexes, and nothing else follows from them (file-format §10). */
export const nameIndex = z.string().check(z.regex(/^[0-9a-f]{32}$/, "expected 32 lower-case hex digits"));

/**
 * The longer form, signed together with its sibling (`VERSION_STATEMENT`, `ENTRY_STATEMENT`). A statement signed alone
 * is shorter.
 */
const VERSION_BYTES = 404;
const ENTRY_BYTES = 321;

/** The name of an entry: a signed statement, encrypted metadata and the name's blind index; bytes in base64. */
export const sharedEntry = z.strictObject({
  entry: base64Bytes(ENTRY_BYTES),
  /** Encrypted; the plain encoding in a vault with plain names. */
  metadata: base64Bytes(640),
  nameIndex,
});

/** A file in a shared vault: who wrote which version, and its name. */
export const sharedFile = z.object({
  version: base64Bytes(VERSION_BYTES),
  entry: base64Bytes(ENTRY_BYTES),
  metadata: base64Bytes(640),
  nameIndex,
});

export interface SharedEntry extends z.infer<typeof sharedEntry> {}

/** Errors of a change in a shared vault. */
export const sharedErrors = [
  "not_a_member",
  "membership_ended",
  "statement_invalid",
  "generation_moved",
  "names_outdated",
  "chain_unavailable",
] as const;

/** The same, where a file's content comes along. */
export const sharedContentErrors = [...sharedErrors, "not_encrypted"] as const;
export interface SharedFile extends z.infer<typeof sharedFile> {}

/** The headers that bring a {@link sharedFile} with the bytes of an upload; tus has them in Upload-Metadata, under the last word. */
export const sharedHeaders = {
  "coffer-version": z.optional(base64Bytes(VERSION_BYTES)),
  "coffer-entry": z.optional(base64Bytes(ENTRY_BYTES)),
  "coffer-metadata": z.optional(base64Bytes(640)),
  "coffer-name-index": z.optional(nameIndex),
  /** With a new version: the kept one whose content it brings again. */
  "coffer-restores": z.optional(uuid),
};
