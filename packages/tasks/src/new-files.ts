/** Small new files of one call: the SDK sends them side by side, many in a request. */
import type { File } from "@coffer/sdk";
import { TaskFailure, toFailure } from "./failure.ts";
import { ROOT } from "./item-lookup.ts";
import type { AllowedFolders } from "./paths/allowed-folders.ts";
import { openSource } from "./paths/local-files.ts";
import type { Task } from "./task.ts";
import type { TransferCount } from "./transfer-count.ts";
import { storedName } from "./upload-source.ts";

/** Larger ones gain nothing by a batch, and have the room for them judged first. */
const SMALL_BYTES = 256 * 1024;
/** Names in one answer. */
const PAGE = 1_000;

export interface NewFiles {
  readonly allowed: AllowedFolders;
  readonly paths: readonly string[];
  readonly vaultId: string;
  /** null: the top of the vault. */
  readonly folderId: string | null;
  readonly mimeType: string | undefined;
  readonly count: TransferCount;
}

/** What became of a file; `at`: the path's place in the call. */
export type NewFileOutcome =
  | { readonly at: number; readonly file: File; readonly bytes: number; readonly sha256: string }
  | { readonly at: number; readonly failure: TaskFailure };

interface Candidate {
  readonly at: number;
  readonly path: string;
  readonly name: string;
  readonly size: number;
}

/**
 * Stores what is small and new. It says nothing of the other paths: large files, folders, names that are taken, and what cannot be
 * read or must not leave this machine have turns of their own.
 */
export async function uploadNewFiles(task: Task, files: NewFiles): Promise<NewFileOutcome[]> {
  const { allowed, count, folderId, mimeType, vaultId } = files;
  const taken = await namesIn(task, files);
  if (taken === null) return [];
  const chosen: Candidate[] = [];
  for (const [at, path] of files.paths.entries()) {
    task.signal.throwIfAborted();
    const candidate = await judge(allowed, at, path, taken);
    if (candidate !== null) chosen.push(candidate);
  }
  const parts = chosen.map(({ path, size }) => count.add(path, size));
  let ended = 0;
  const { uploadFiles } = await import("@coffer/sdk/node");
  const place = { vaultId, contentType: mimeType, ...(folderId === null ? {} : { folderId }) };
  const outcomes = await uploadFiles(
    await task.clientFor(vaultId),
    chosen.map(({ path, name }) => ({
      path,
      name,
      ...place,
      open: async () => {
        await using source = await openSource(allowed, path);
        await source.refuseSecrets();
        return await source.reopen();
      },
    })),
    {
      signal: task.signal,
      onProgress: ({ files: done }) => {
        for (; ended < done; ended += 1) parts[ended]?.end();
      },
    },
  );
  return outcomes.flatMap(({ error, result }, index): NewFileOutcome[] => {
    const at = chosen[index]?.at ?? -1;
    if (result !== null) return [{ at, file: result.file, bytes: result.bytes, sha256: result.sha256 }];
    const failure = toFailure(error, task.signal);
    return isOfSdk(error) && !LATE.has(failure.code) ? [{ at, failure }] : [];
  });
}

/** Somebody was quicker, or the file here changes: its own turn looks at what is there. */
const LATE: ReadonlySet<string> = new Set(["name_exists", "source_changed"]);

/** What the system or this package says of a local file is said again in the file's own turn. */
function isOfSdk(error: Error | null): boolean {
  return error !== null && !(error instanceof TaskFailure) && "retryable" in error;
}

/** One list in place of a look for each name. null: so full a folder that the looks are fewer. */
async function namesIn(task: Task, { folderId, paths, vaultId }: NewFiles): Promise<Set<string> | null> {
  const names = new Set<string>();
  const query = { vaultId, folderId: folderId ?? ROOT, limit: PAGE };
  const client = await task.client();
  for await (const { name } of client.files.list(query, { signal: task.signal })) {
    names.add(name.normalize("NFC"));
    if (names.size > PAGE * paths.length) return null;
  }
  return names;
}

/** null: it has a turn of its own. */
async function judge(allowed: AllowedFolders, at: number, path: string, taken: Set<string>): Promise<Candidate | null> {
  try {
    await using source = await openSource(allowed, path);
    const name = storedName(source.name);
    if (source.size > SMALL_BYTES || taken.has(name)) return null;
    taken.add(name);
    return { at, path, name, size: source.size };
  } catch {
    return null;
  }
}
