/**
 * The product's main job on a real folder: an MCP client uploads it, lists it, downloads it to a scratch folder, and
 * every byte is compared. Folders are mirrored through the SDK, because the tools of today store files only.
 */
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ApiError, createClient, type Client } from "@coffer/sdk";
import { equalFiles } from "./equal-files.ts";
import { readTree, storableName, type FolderTree, type LocalFile, type Skipped } from "./folder-tree.ts";
import type { Stack } from "./stack.ts";
import { numberFact, openToolClient, textFact, type ToolAnswer, type ToolClient } from "./tool-client.ts";

export interface JobOptions {
  readonly stack: Pick<Stack, "baseUrl" | "apiKey" | "credentialsFile" | "dataDirectory">;
  readonly folder: string;
  readonly signal: AbortSignal;
  /** One line of progress. */
  readonly say: (line: string) => void;
}

/** What happened. Times in seconds. */
export interface JobReport {
  readonly folder: string;
  readonly vaultId: string;
  readonly files: number;
  readonly folders: number;
  readonly bytes: number;
  readonly uploadSeconds: number;
  readonly downloadSeconds: number;
  /** Files that came back byte for byte. */
  readonly verified: number;
  /** Left out on purpose. */
  readonly skipped: readonly Skipped[];
  /** Could not be stored, listed or fetched, or came back different. */
  readonly failed: readonly Skipped[];
  readonly ok: boolean;
}

interface StoredFile {
  readonly local: LocalFile;
  readonly fileId: string;
  readonly bytes: number;
}

interface Job extends JobOptions {
  readonly tools: ToolClient;
  readonly vaultId: string;
  readonly scratch: string;
  readonly skipped: Skipped[];
  readonly failed: Skipped[];
}

/** Calls under way at once. */
const LANES = 4;

/** Runs the job once, in a new public vault. The scratch folder is removed afterwards. */
export async function runMainJob(options: JobOptions): Promise<JobReport> {
  const { stack, folder, say } = options;
  const tree = await readTree(folder, await realpath(stack.dataDirectory));
  const scratch = await realpath(await mkdtemp(join(tmpdir(), "coffer-scratch-")));
  try {
    await using tools = await openToolClient({
      credentialsFile: stack.credentialsFile,
      folders: [folder, scratch],
      // Journals of large uploads go to the stack's data, not into the user's own configuration.
      environment: { SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client") },
      onLog: (text) => {
        say(text.trimEnd());
      },
    });
    const vaultId = await createVault(tools, folder);
    const job: Job = { ...options, tools, vaultId, scratch, skipped: [...tree.skipped], failed: [] };
    return await runSteps(job, tree);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function runSteps(job: Job, tree: FolderTree): Promise<JobReport> {
  const { say, folder, vaultId, skipped, failed } = job;
  say(`uploading ${String(tree.files.length)} files of ${folder}`);
  const upload = await timed(async () => uploadAll(job, tree));
  say(`uploaded ${String(upload.value.length)} files in ${upload.seconds.toFixed(1)} s; listing`);
  const listed = await listAll(job, upload.value);
  say(`listed ${String(listed.length)} files; downloading`);
  const download = await timed(() => downloadAll(job, listed));
  say(`downloaded ${String(download.value.length)} files in ${download.seconds.toFixed(1)} s; comparing`);
  const verified = await verifyAll(job, download.value);
  const files = upload.value.length;
  return {
    folder,
    vaultId,
    files,
    folders: tree.folders.length,
    bytes: upload.value.reduce((sum, file) => sum + file.bytes, 0),
    uploadSeconds: upload.seconds,
    downloadSeconds: download.seconds,
    verified,
    skipped,
    failed,
    // A folder of which nothing could be stored proves nothing.
    ok: failed.length === 0 && verified === files && (files > 0 || tree.files.length === 0),
  };
}

async function createVault(tools: ToolClient, folder: string): Promise<string> {
  const name = `${storableName(basename(folder) || "files").slice(0, 60)} ${new Date().toISOString().replaceAll(":", "-")}`;
  const answer = await tools.call("vault_create", { name, type: "public" });
  if (answer.isError) throw new Error(`The vault could not be made: ${answer.text}`);
  return textFact(answer, "vaultId");
}

async function uploadAll(job: Job, tree: FolderTree): Promise<StoredFile[]> {
  const folderIds = await mirrorFolders(job, tree);
  const stored: StoredFile[] = [];
  await inLanes(job, tree.files, async (local) => {
    const folderId = folderIds.get(keyOf(local.parts.slice(0, -1)));
    const answer = await job.tools.call(
      "file_upload",
      {
        path: local.path,
        vaultId: job.vaultId,
        name: storableName(local.parts.at(-1) ?? ""),
        // Two local names can become one: by replaced characters, or in Unicode's NFC.
        ifExists: "rename",
        ...(folderId === undefined ? {} : { folderId }),
      },
      { signal: job.signal },
    );
    if (answer.isError) noteFailure(job, local, answer);
    else stored.push({ local, fileId: textFact(answer, "fileId"), bytes: numberFact(answer, "bytes") });
  });
  return stored;
}

async function mirrorFolders(job: Job, tree: FolderTree): Promise<Map<string, string>> {
  const client = createClient({ baseUrl: job.stack.baseUrl, credentials: { apiKey: job.stack.apiKey } });
  const ids = new Map<string, string>();
  for (const parts of tree.folders) {
    job.signal.throwIfAborted();
    const parentId = ids.get(keyOf(parts.slice(0, -1))) ?? null;
    ids.set(keyOf(parts), await createFolder(client, job.vaultId, parentId, storableName(parts.at(-1) ?? "")));
  }
  return ids;
}

async function createFolder(client: Client, vaultId: string, parentId: string | null, name: string): Promise<string> {
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
async function listAll(job: Job, stored: readonly StoredFile[]): Promise<StoredFile[]> {
  const sizes = new Map<string, number>();
  let cursor: string | null = null;
  do {
    const answer: ToolAnswer = await job.tools.call("file_list", {
      vaultId: job.vaultId,
      limit: 100,
      ...(cursor === null ? {} : { cursor }),
    });
    if (answer.isError) throw new Error(`The files could not be listed: ${answer.text}`);
    for (const [fileId, bytes] of rowsOf(answer)) sizes.set(fileId, bytes);
    cursor = typeof answer.facts["nextCursor"] === "string" ? answer.facts["nextCursor"] : null;
  } while (cursor !== null);
  return stored.filter((file) => {
    if (sizes.get(file.fileId) === file.bytes) return true;
    job.failed.push({ path: file.local.parts.join("/"), reason: "not listed as it was stored" });
    return false;
  });
}

function rowsOf(answer: ToolAnswer): [string, number][] {
  const rows = answer.facts["files"];
  if (!Array.isArray(rows)) throw new TypeError("The list has no files");
  return rows.map((row: unknown) => {
    const [fileId, bytes] = Array.isArray(row) ? (row as unknown[]) : [];
    if (typeof fileId !== "string" || typeof bytes !== "number")
      throw new TypeError("A row of the list has another form");
    return [fileId, bytes];
  });
}

async function downloadAll(job: Job, stored: readonly StoredFile[]): Promise<StoredFile[]> {
  const fetched: StoredFile[] = [];
  await inLanes(job, stored, async (file) => {
    await mkdir(join(job.scratch, ...file.local.parts.slice(0, -1)), { recursive: true });
    const destPath = join(job.scratch, ...file.local.parts);
    const answer = await job.tools.call("file_download", { fileId: file.fileId, destPath }, { signal: job.signal });
    if (answer.isError) job.failed.push({ path: file.local.parts.join("/"), reason: firstLine(answer) });
    else fetched.push(file);
  });
  return fetched;
}

async function verifyAll(job: Job, fetched: readonly StoredFile[]): Promise<number> {
  let verified = 0;
  for (const { local } of fetched) {
    job.signal.throwIfAborted();
    if (await equalFiles(local.path, join(job.scratch, ...local.parts))) verified += 1;
    else job.failed.push({ path: local.parts.join("/"), reason: "came back different" });
  }
  return verified;
}

/** What must never leave a machine and what is too large is left out on purpose; anything else is a failure. */
function noteFailure(job: Job, local: LocalFile, answer: ToolAnswer): void {
  const path = local.parts.join("/");
  if (answer.code === "path_not_allowed") job.skipped.push({ path, reason: "looks like a credential or key" });
  else if (answer.code === "file_too_large" || answer.code === "storage_quota")
    job.skipped.push({ path, reason: firstLine(answer) });
  else job.failed.push({ path, reason: firstLine(answer) });
}

function firstLine(answer: ToolAnswer): string {
  return answer.text.split("\n")[0] ?? "";
}

/** Every so many files one line of progress. */
const SAY_EVERY = 100;

async function inLanes<Item>(job: Job, items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) {
      job.signal.throwIfAborted();
      if (index > 0 && index % SAY_EVERY === 0) job.say(`  ${String(index)} of ${String(items.length)}`);
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function timed<Value>(work: () => Promise<Value>): Promise<{ value: Value; seconds: number }> {
  const start = performance.now();
  const value = await work();
  return { value, seconds: (performance.now() - start) / 1000 };
}

function keyOf(parts: readonly string[]): string {
  return parts.join("/");
}
