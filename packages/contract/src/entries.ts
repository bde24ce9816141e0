/** The past of names and places (decision 0051). Clients load it when they need it. */
import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { sharedEntry } from "./shared-entries.ts";
import { author, openEnum, pageOf, pageQuery, timestamp, uuid } from "./values.ts";

/** How an entry came. A move may bring a new name along. */
export const ENTRY_SOURCES = ["create", "rename", "move", "restore", "content"] as const;

/** A name and place that an item has, or had and keeps. */
const entry = {
  /** The first is 1. Numbers of entries that are gone are missing. */
  number: z.int(),
  /** "" where only members can read the name: then `shared` has it. */
  name: z.string(),
  vaultId: uuid,
  author,
  how: openEnum(ENTRY_SOURCES),
  createdAt: timestamp,
  /** null: the current entry. */
  expiresAt: z.nullable(timestamp),
  /** What a member signed, in a shared vault; null in a public one. */
  shared: z.nullable(sharedEntry),
};

/** null: at the top of the vault. */
const place = z.nullable(uuid);

export const fileEntry = z.object({ ...entry, folderId: place });
export const folderEntry = z.object({ ...entry, parentId: place });

export interface FileEntry extends z.infer<typeof fileEntry> {}
export interface FolderEntry extends z.infer<typeof folderEntry> {}

const common = {
  auth: "credential",
  access: "agent",
  vaultLimit: "object",
  method: "GET",
  effect: "read",
  query: z.strictObject(pageQuery),
  status: 200,
  errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
} as const;

/** Belongs to `files`. */
export const fileEntriesGroup = {
  entries: endpoint({
    ...common,
    scope: "files:read",
    id: "files.entries",
    path: "/api/files/{fileId}/entries",
    params: z.object({ fileId: uuid }),
    output: pageOf("entries", fileEntry),
  }),
} as const;

/** Belongs to `folders`. */
export const folderEntriesGroup = {
  entries: endpoint({
    ...common,
    scope: "folders:read",
    id: "folders.entries",
    path: "/api/folders/{folderId}/entries",
    params: z.object({ folderId: uuid }),
    output: pageOf("entries", folderEntry),
  }),
} as const;
