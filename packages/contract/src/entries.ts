/** The past of names and places (decision 0051). */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { sharedEntry } from "./shared-entries.ts";
import { author, openEnum, nextPage, pageQuery, timestamp, uuid } from "./values.ts";

/** How an entry came. A move may bring a new name along. */
export const ENTRY_SOURCES = ["create", "rename", "move", "restore", "content"] as const;

/** A name and place that an item has, or had and keeps. */
const entry = {
  /** Place in the item's past, from 1. Numbers of entries that are gone are missing. */
  number: z.int(),
  /** Name at that time. "": only members can read it. */
  name: z.string(),
  /** UUID of the vault. */
  vaultId: uuid,
  /** The caller that made it, with its credential as it was then. A member of another account has its address alone. null: not noted. */
  author,
  /** How it came: `create`, `rename`, `move`, `restore`, or `content`: new content under the same name, in shared vaults. */
  how: openEnum(ENTRY_SOURCES),
  /** When it got this name or place: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
  /** When it is forgotten: RFC 3339 in UTC. null: the current entry, which stays. */
  expiresAt: z.nullable(timestamp),
  /** What members signed and encrypted. null: in a public vault. */
  shared: z.nullable(sharedEntry),
};

/** null: at the top of the vault. */
const folder = z.nullable(uuid);

const fileEntrySchema = object({
  ...entry,
  /** UUID of the folder. null: the top of the vault. */
  folderId: folder,
});

/** A name and place that a file has, or had and keeps. */
export interface FileEntry extends Parsed<typeof fileEntrySchema> {}

export const fileEntry: Named<FileEntry> = fileEntrySchema;
const folderEntrySchema = object({
  ...entry,
  /** UUID of the folder that holds it. null: the top of the vault. */
  parentId: folder,
});

/** A name and place that a folder has, or had and keeps. */
export interface FolderEntry extends Parsed<typeof folderEntrySchema> {}

export const folderEntry: Named<FolderEntry> = folderEntrySchema;

const common = {
  auth: "credential",
  access: "agent",
  vaultLimit: "object",
  method: "GET",
  effect: "read",
  query: strictObject(pageQuery),
  status: 200,
  errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
} as const;

/** Belongs to `files`. */
export const fileEntriesGroup = {
  /** Names and places that a file had, newest first; the first is the current one. */
  entries: endpoint({
    ...common,
    scope: "files:read",
    id: "files.entries",
    path: "/api/files/{fileId}/entries",
    params: object({
      /** UUID of the file. */
      fileId: uuid,
    }),
    output: object({
      /** Names and places, newest first. The first is the current one. */
      entries: z.array(fileEntry),
      ...nextPage,
    }),
  }),
} as const;

/** Belongs to `folders`. */
export const folderEntriesGroup = {
  /** Names and places that a folder had, newest first; the first is the current one. */
  entries: endpoint({
    ...common,
    scope: "folders:read",
    id: "folders.entries",
    path: "/api/folders/{folderId}/entries",
    params: object({
      /** UUID of the folder. */
      folderId: uuid,
    }),
    output: object({
      /** Names and places, newest first. The first is the current one. */
      entries: z.array(folderEntry),
      ...nextPage,
    }),
  }),
} as const;
