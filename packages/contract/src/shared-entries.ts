/**
 * What files and folders of shared vaults carry beside their ids: statements that clients sign, and names that only
 * members can read.
 */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
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
const sharedEntrySchema = strictObject({
  /** Signed statement about name and place, in base64. */
  entry: base64Bytes(ENTRY_BYTES),
  /** Name and media type in base64, encrypted unless the vault has plain names. */
  metadata: base64Bytes(640),
  /** Blind index of the name: 32 lower-case hex digits. Equal names in one folder have equal indexes. */
  nameIndex,
});

/** The name of an entry of a shared vault: signed, and encrypted unless the vault has plain names. */
export interface SharedEntry extends Parsed<typeof sharedEntrySchema> {}

export const sharedEntry: Named<SharedEntry> = sharedEntrySchema;

/** A file in a shared vault: who wrote which version, and its name. */
const sharedFileSchema = object({
  /** Signed statement about this content: who wrote it, in base64. */
  version: base64Bytes(VERSION_BYTES),
  /** Signed statement about name and place, in base64. */
  entry: base64Bytes(ENTRY_BYTES),
  /** Name and media type in base64, encrypted unless the vault has plain names. */
  metadata: base64Bytes(640),
  /** Blind index of the name: 32 lower-case hex digits. Equal names in one folder have equal indexes. */
  nameIndex,
});

/** What members signed about a file of a shared vault: who wrote which version, and its name. */
export interface SharedFile extends Parsed<typeof sharedFileSchema> {}

export const sharedFile: Named<SharedFile> = sharedFileSchema;

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
/** The headers that bring a {@link sharedFile} with the bytes of an upload; tus has them in Upload-Metadata, under the last word. */
export const sharedHeaders = {
  /** In a shared vault: the signed statement about the content, in base64. Default: none, in a public vault. */
  "coffer-version": z.optional(base64Bytes(VERSION_BYTES)),
  /** In a shared vault: the signed statement about name and place, in base64. Default: none, in a public vault. */
  "coffer-entry": z.optional(base64Bytes(ENTRY_BYTES)),
  /** In a shared vault: name and media type in base64, encrypted unless names are plain. Default: none, in a public vault. */
  "coffer-metadata": z.optional(base64Bytes(640)),
  /** In a shared vault: the blind index of the name, 32 lower-case hex digits. Default: none, in a public vault. */
  "coffer-name-index": z.optional(nameIndex),
  /** UUID of the kept version whose content a shared vault's file gets again. Default: none. */
  "coffer-restores": z.optional(uuid),
};
