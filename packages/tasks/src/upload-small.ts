/** Small new files of one call, in batches of one request each. */
import { readSync } from "node:fs";
import type { Client, File, UploadInput } from "@coffer/sdk";
import { type TaskFailure, toFailure } from "./failure.ts";
import { ROOT } from "./item-lookup.ts";
import type { AllowedFolders } from "./paths/allowed-folders.ts";
import { openSource } from "./paths/local-files.ts";
import type { Task } from "./task.ts";
import type { TransferCount } from "./transfer-count.ts";
import { storedName } from "./upload-source.ts";

/** Larger ones gain nothing by a batch. */
const MOST_BYTES = 256 * 1024;
/** Names in one answer. */
const PAGE = 1_000;
/** What is held in memory at once. */
const GROUP = { files: 200, bytes: 8 * 1024 * 1024 };

export interface SmallUploads {
  readonly allowed: AllowedFolders;
  readonly paths: readonly string[];
  readonly vaultId: string;
  /** null: the top of the vault. */
  readonly folderId: string | null;
  readonly mimeType: string | undefined;
  readonly count: TransferCount;
}

/** What a batch made of a file; `at`: the path's place in the call. */
export type SmallOutcome =
  | { readonly at: number; readonly file: File; readonly bytes: number; readonly sha256: string }
  | { readonly at: number; readonly failure: TaskFailure };

interface SmallFile {
  readonly at: number;
  readonly path: string;
  readonly input: UploadInput;
  readonly size: number;
}

/**
 * Stores what is small and new. It says nothing of the other paths. Large files, folders, names that are taken and what cannot be
 * read have turns of their own.
 */
export async function uploadSmall(task: Task, uploads: SmallUploads): Promise<SmallOutcome[]> {
  const { count, paths } = uploads;
  const client = await task.client();
  const existing = await namesIn(client, task, uploads);
  if (existing === null) return [];
  const outcomes: SmallOutcome[] = [];
  let group: SmallFile[] = [];
  const send = async (): Promise<void> => {
    if (group.length > 0) outcomes.push(...(await sendGroup(task, client, group, count)));
    group = [];
  };
  for (const [at, path] of paths.entries()) {
    task.signal.throwIfAborted();
    const read = await readSmall(uploads, at, path, existing);
    if (read === null) continue;
    const bytes = group.reduce((sum, { size }) => sum + size, read.size);
    if (group.length === GROUP.files || bytes > GROUP.bytes) await send();
    group.push(read);
  }
  await send();
  return outcomes;
}

/** One list in place of a look for each name. null: so full a folder that the looks are fewer. */
async function namesIn(
  client: Client,
  { signal }: Task,
  { folderId, paths, vaultId }: SmallUploads,
): Promise<Set<string> | null> {
  const names = new Set<string>();
  const query = { vaultId, folderId: folderId ?? ROOT, limit: PAGE };
  for await (const { name } of client.files.list(query, { signal })) {
    names.add(name.normalize("NFC"));
    if (names.size > PAGE * paths.length) return null;
  }
  return names;
}

/** null: it has a turn of its own. */
async function readSmall(
  { allowed, folderId, mimeType, vaultId }: SmallUploads,
  at: number,
  path: string,
  existing: Set<string>,
): Promise<SmallFile | null> {
  try {
    await using source = await openSource(allowed, path);
    const { size } = source;
    const name = storedName(source.name);
    if (size > MOST_BYTES || existing.has(name)) return null;
    await source.refuseSecrets();
    const handle = await source.reopen();
    try {
      const buffer = new Uint8Array(size + 1);
      // It changes: its own turn says so, if it goes on.
      if (readSync(handle.fd, buffer, 0, buffer.length, 0) !== size) return null;
      const { guessContentType } = await import("@coffer/sdk/node");
      const contentType = mimeType ?? guessContentType(name);
      existing.add(name);
      const parent = folderId === null ? {} : { folderId };
      const body = buffer.subarray(0, size);
      return { at, path, size, input: { vaultId, ...parent, name, body, contentType } };
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}

async function sendGroup(
  task: Task,
  client: Client,
  group: readonly SmallFile[],
  count: TransferCount,
): Promise<SmallOutcome[]> {
  const counted = group.map(({ path, size }) => count.add(path, size));
  let ended = 0;
  const outcomes = await client.files.uploadMany(
    group.map(({ input }) => input),
    {
      signal: task.signal,
      onProgress: ({ files }) => {
        for (; ended < files; ended += 1) counted[ended]?.end();
      },
    },
  );
  return outcomes.flatMap(({ error, result }, index): SmallOutcome[] => {
    const at = group[index]?.at ?? -1;
    if (result !== null) return [{ at, file: result.file, bytes: result.bytes, sha256: result.sha256 }];
    const failure = toFailure(error, task.signal);
    // Somebody was quicker: what is there is looked at.
    return failure.code === "name_exists" ? [] : [{ at, failure }];
  });
}
