/**
 * The content of an export of a shared vault: everything that the service had of it, under ids and key ids alone.
 * Names are inside, encrypted as they were. So no name that anybody chose decides where a byte is written.
 *
 * ```
 * manifest.json               written last: an export without it is not finished
 * manifest.statement          who exported it, signed (file-format §12); absent where the exporter has no signing key
 * records/<key id>.record     vault keys' records (file-format §7)
 * folders/<folder id>.json    signed entry, metadata
 * files/<file id>.json        signed version and entry, metadata
 * content/<file id>.file      the stored file (file-format §1)
 * ```
 */
import { filesGroup, fileSchema, folderSchema, vaultsGroup } from "@coffer/contract";
import * as z from "zod/mini";
import { vaultError } from "../vault-error.ts";
import { type VaultError } from "../../http/errors.ts";

/** Where an export is written to and read from. Paths are relative, of one folder and one name, and come from this SDK alone. */
export interface ExportStore {
  /** Replaces the file; after a crash it is whole, as before, or absent. */
  write(path: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * null: there is no such file.
   * @throws RangeError for one above `most` bytes.
   */
  read(path: string, most: number): Promise<Uint8Array | null>;
  /** The bytes in pieces; null: there is no such file. */
  open(path: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Bytes of a file; null: there is none. */
  size(path: string): Promise<number | null>;
  /** Names in a folder, in any order. */
  list(folder: string): AsyncIterable<string>;
  /** Removes a file; nothing happens if there is none. */
  remove(path: string): Promise<void>;
}

export const MANIFEST = "manifest.json";
export const STATEMENT = "manifest.statement";
/** The input of the manifest's digest, in the order of names. Contents are bound by their files, which name size and SHA-256. */
export const ITEM_FOLDERS = ["files", "folders", "records"] as const;
export type ItemFolder = (typeof ITEM_FOLDERS)[number];
export const recordPath = (keyId: string): string => itemPath("records", keyId);
export const folderPath = (id: string): string => itemPath("folders", id);
export const filePath = (id: string): string => itemPath("files", id);
export const contentPath = (fileId: string): string => `content/${fileId}.file`;

const JSON_NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/;
const NAMES: Readonly<Record<ItemFolder, RegExp>> = {
  files: JSON_NAME,
  folders: JSON_NAME,
  records: /^([0-9a-f]{64})\.record$/,
};

export function itemPath(folder: ItemFolder, id: string): string {
  return `${folder}/${id}.${folder === "records" ? "record" : "json"}`;
}

/** null: no file of an export has such a name there. */
export function itemIdOf(folder: ItemFolder, name: string): string | null {
  return NAMES[folder].exec(name)?.[1] ?? null;
}

/** In bytes: the size of one read. */
export const MAX_MANIFEST = 4 * 1024 * 1024;
export const MAX_ITEM = 16 * 1024;

const address = z.string().check(z.regex(/^0x[0-9a-f]{64}$/));
const generation = z.string().check(z.regex(/^\d{1,20}$/));
const member = z.object({ chainAddress: address, signingKey: z.string(), since: generation });

const keyServerFacts = z.object({
  objectId: address,
  weight: z.int(),
  publicKey: z.string(),
  aggregatorUrl: z.optional(z.string()),
});

export const manifest = z.object({
  format: z.enum(["coffer-export"]),
  version: z.enum(["2"]),
  /** Milliseconds since 1970; the statement's time. */
  createdAt: z.int(),
  origin: z.string(),
  vaultId: vaultsGroup.get.params.shape.vaultId,
  /**
   * What a reader needs to find the chain and the key servers again; it holds no credential. Readers of an export use
   * their own.
   */
  network: z.object({
    network: z.string(),
    chainId: z.string(),
    packageDigest: z.string(),
    originalPackageId: address,
    latestPackageId: address,
    keyServerSets: z.array(z.object({ threshold: z.int(), servers: z.array(keyServerFacts) })),
  }),
  /** The vault object when it was exported. A reader asks the chain again, which must not be behind it. */
  vault: z.object({
    objectId: address,
    generation,
    floor: generation,
    /** The generation that the last rotation began with. */
    base: z.optional(generation),
    plainNames: z.boolean(),
    owner: member,
    members: z.array(member),
    former: z.array(z.object({ ...member.shape, until: generation })),
  }),
  files: z.int(),
  folders: z.int(),
  records: z.int(),
  /** `digestItems` of all files, folders and records: nothing was taken away, added, or brought in from an older export. */
  items: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});

export type Manifest = z.infer<typeof manifest>;

/** The count of each. */
export type ItemCounts = Readonly<Record<ItemFolder, number>>;

const { id, versionId, size, sha256, folderId, shared, createdAt, updatedAt, trashedAt } = fileSchema.shape;
const { parentId, shared: sharedFolder } = folderSchema.shape;
const times = { createdAt, updatedAt, trashedAt };

/** The call that wrote it: it distinguishes the files of an earlier call. */
const run = { run: filesGroup.get.params.shape.fileId };

export const exportedFile = z.object({ ...run, id, versionId, size, sha256, folderId, shared, ...times });
export const exportedFolder = z.object({ ...run, id, parentId, shared: sharedFolder, ...times });
export const exportedItem = z.object(run);

export type ExportedFileFacts = z.infer<typeof exportedFile>;
export type ExportedFolderFacts = z.infer<typeof exportedFolder>;

/**
 * Reads JSON of an export.
 * @throws VaultError `damaged` for a missing file or another form.
 */
export async function readDocument<Value>(
  store: ExportStore,
  path: string,
  schema: z.core.$ZodType<Value>,
  most: number,
): Promise<Value> {
  const bytes = await readWhole(store, path, most);
  if (bytes === null) throw damagedExport(`${path} is missing`);
  return parseDocument(bytes, path, schema);
}

/** @throws VaultError `damaged` for bytes of another form. */
export function parseDocument<Value>(bytes: Uint8Array, path: string, schema: z.core.$ZodType<Value>): Value {
  try {
    return z.parse(schema, JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw damagedExport(`${path} is not what an export holds`, cause);
  }
}

/**
 * null: it is missing.
 * @throws VaultError `damaged` for more than `most` bytes.
 */
export async function readWhole(store: ExportStore, path: string, most: number): Promise<Uint8Array | null> {
  try {
    return await store.read(path, most);
  } catch (error) {
    throw error instanceof RangeError ? damagedExport(`${path} is longer than it may be`, error) : error;
  }
}

export function damagedExport(message: string, cause?: unknown): VaultError {
  const nextStep = "Take another copy of the export.";
  return vaultError("damaged", `The export cannot be trusted: ${message}`, { nextStep, cause });
}

const encoder = new TextEncoder();

export function renderDocument(value: unknown): Uint8Array {
  return encoder.encode(`${JSON.stringify(value, null, 2)}\n`);
}
