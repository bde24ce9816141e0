/** A folder through the tools of an agent: uploaded, listed, downloaded to a scratch folder, and every byte compared. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ApiError, type Client } from "@coffer/sdk";
import { equalFiles } from "./equal-files.ts";
import { storableName, type FolderTree, type LocalFile, type Skipped } from "./folder-tree.ts";
import { numberFact, textFact, type ToolAnswer, type ToolClient } from "./tool-client.ts";

export interface Transfer {
  readonly tools: ToolClient;
  /** Makes folders: the tools of today store files only. */
  readonly client: Client;
  readonly tree: FolderTree;
  readonly vaultId: string;
  /** The folder of the vault that takes all of it. */
  readonly topId: string;
  readonly scratch: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** Left out on purpose; grows. */
  readonly skipped: Skipped[];
  /** What went wrong; grows. */
  readonly failed: Skipped[];
}

export interface StoredFile {
  readonly local: LocalFile;
  readonly fileId: string;
  readonly folderId: string;
  readonly bytes: number;
}

/** Calls under way at once. */
const LANES = 4;

export async function uploadAll(transfer: Transfer): Promise<StoredFile[]> {
  const folderIds = await mirrorFolders(transfer);
  const stored: StoredFile[] = [];
  await inLanes(transfer, transfer.tree.files, async (local) => {
    const folderId = folderIds.get(keyOf(local.parts.slice(0, -1))) ?? transfer.topId;
    const { path, parts } = local;
    // Two local names can become one: by replaced characters, or in Unicode's NFC.
    const given = {
      paths: [path],
      vaultId: transfer.vaultId,
      folder: folderId,
      name: storableName(parts.at(-1) ?? ""),
      ifExists: "rename",
    };
    const answer = await transfer.tools.call("file_upload", given, { signal: transfer.signal });
    if (answer.isError) noteFailure(transfer, local, answer);
    else stored.push({ local, fileId: textFact(answer, "fileId"), folderId, bytes: numberFact(answer, "bytes") });
  });
  return stored;
}

async function mirrorFolders({ client, tree, vaultId, topId, signal }: Transfer): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const parts of tree.folders) {
    signal.throwIfAborted();
    const parentId = ids.get(keyOf(parts.slice(0, -1))) ?? topId;
    ids.set(keyOf(parts), await createFolder(client, vaultId, parentId, storableName(parts.at(-1) ?? "")));
  }
  return ids;
}

/** A folder of that name, with a number if the name exists. */
export async function createFolder(
  client: Client,
  vaultId: string,
  parentId: string | null,
  name: string,
): Promise<string> {
  for (let number = 1; ; number += 1) {
    try {
      const folder = await client.folders.create({
        vaultId,
        parentId,
        name: number === 1 ? name : `${name} (${String(number)})`,
      });
      return folder.id;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "name_exists" || number > 50) throw error;
    }
  }
}

/** The listed among the stored files; one that is missing or has another size is a failure. */
export async function listAll(transfer: Transfer, stored: readonly StoredFile[]): Promise<StoredFile[]> {
  const sizes = new Map<string, number>();
  for (const folderId of new Set(stored.map((file) => file.folderId)))
    for (const [shortId, bytes] of await listFolder(transfer, folderId)) sizes.set(`${folderId} ${shortId}`, bytes);
  return stored.filter(({ folderId, fileId, ...file }) => {
    // A row shows 8 digits of the id, or more where two rows of a page begin alike.
    const lengths = Array.from({ length: fileId.length - 7 }, (_, more) => 8 + more);
    if (lengths.some((length) => sizes.get(`${folderId} ${fileId.slice(0, length)}`) === file.bytes)) return true;
    transfer.failed.push({ path: file.local.parts.join("/"), reason: "not listed as it was stored" });
    return false;
  });
}

async function listFolder({ tools, vaultId, signal }: Transfer, folderId: string): Promise<[string, number][]> {
  const rows: [string, number][] = [];
  let cursor: string | null = null;
  do {
    const given = { vaultId, folder: folderId, limit: 100, ...(cursor === null ? {} : { cursor }) };
    const answer: ToolAnswer = await tools.call("file_list", given, { signal });
    if (answer.isError) throw new Error(`The files could not be listed: ${answer.text}`);
    rows.push(...rowsOf(answer));
    cursor = typeof answer.facts["nextCursor"] === "string" ? answer.facts["nextCursor"] : null;
  } while (cursor !== null);
  return rows;
}

function rowsOf(answer: ToolAnswer): [string, number][] {
  const rows = answer.facts["files"];
  if (!Array.isArray(rows)) throw new TypeError("The list has no files");
  return rows.flatMap((row: unknown): [string, number][] => {
    const [shortId, bytes] = Array.isArray(row) ? (row as unknown[]) : [];
    if (typeof shortId !== "string") throw new TypeError("A row of the list has another form");
    // Folders have no size.
    return typeof bytes === "number" ? [[shortId, bytes]] : [];
  });
}

export async function downloadAll(transfer: Transfer, stored: readonly StoredFile[]): Promise<StoredFile[]> {
  const fetched: StoredFile[] = [];
  await inLanes(transfer, stored, async (file) => {
    const { parts } = file.local;
    await mkdir(join(transfer.scratch, ...parts.slice(0, -1)), { recursive: true });
    const given = { files: [file.fileId], dest: join(transfer.scratch, ...parts) };
    const answer = await transfer.tools.call("file_download", given, { signal: transfer.signal });
    if (answer.isError) transfer.failed.push({ path: parts.join("/"), reason: firstLine(answer) });
    else fetched.push(file);
  });
  return fetched;
}

/** How many files came back byte for byte. */
export async function verifyAll(transfer: Transfer, fetched: readonly StoredFile[]): Promise<number> {
  let verified = 0;
  for (const { local } of fetched) {
    transfer.signal.throwIfAborted();
    if (await equalFiles(local.path, join(transfer.scratch, ...local.parts))) verified += 1;
    else transfer.failed.push({ path: local.parts.join("/"), reason: "came back different" });
  }
  return verified;
}

/** It leaves out files that must never leave a machine, and files that are too large. Anything else is a failure. */
function noteFailure({ skipped, failed }: Transfer, local: LocalFile, answer: ToolAnswer): void {
  const path = local.parts.join("/");
  if (answer.code === "path_not_allowed") skipped.push({ path, reason: "looks like a credential or key" });
  else if (answer.code === "file_too_large" || answer.code === "storage_quota")
    skipped.push({ path, reason: firstLine(answer) });
  else failed.push({ path, reason: firstLine(answer) });
}

export function firstLine(answer: ToolAnswer): string {
  return answer.text.split("\n")[0] ?? "";
}

/** Every so many files one line of progress. */
const SAY_EVERY = 100;

async function inLanes<Item>(
  { signal, say }: Transfer,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) {
      signal.throwIfAborted();
      if (index > 0 && index % SAY_EVERY === 0) say(`  ${String(index)} of ${String(items.length)}`);
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

function keyOf(parts: readonly string[]): string {
  return parts.join("/");
}
