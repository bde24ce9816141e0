/** The decisions of an upload: is there room, what is it called, what if the name is taken. */
import { nameProblem } from "@coffer/contract";
import type { Account, File } from "@coffer/sdk";
import type { Task } from "./task.ts";
import { TaskFailure, toFailure } from "./failure.ts";
import type { SourceFile } from "./paths/local-files.ts";
import { digestLocal, digestStored } from "./digests.ts";

export interface UploadWish {
  readonly vaultId: string;
  readonly folderId?: string | undefined;
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly ifExists: "error" | "version" | "rename";
  readonly idempotencyKey?: string | undefined;
}

export interface Stored {
  readonly file: File;
  readonly bytes: number;
  readonly sha256: string;
  readonly replaced: boolean;
}

/**
 * Uploads an open local file. Refuses before any byte is sent when it surely cannot fit.
 * Throws TaskFailure `file_too_large`, `storage_quota`, `name_exists`, `invalid_arguments`, `integrity_failed`.
 */
export async function uploadSource(task: Task, source: SourceFile, wish: UploadWish): Promise<Stored> {
  const name = nameOf(source, wish.name);
  await judgeRoom(task, source.size, wish);
  if (wish.ifExists === "version") return await uploadVersion(task, source, wish, name);
  if (wish.ifExists === "rename") return await uploadRenamed(task, source, wish, name);
  // A repeat under its key finds its own file. Only the service can distinguish it from a stranger's, so this asks
  // nothing before.
  const taken = wish.idempotencyKey === undefined ? await findByName(task, wish, name) : null;
  if (taken !== null) throw nameTaken(taken);
  const earlier = await findEarlier(task, source, wish, name);
  if (earlier !== null) return earlier;
  return await send(task, source, { wish, name, key: wish.idempotencyKey, replaces: null });
}

function nameOf(source: SourceFile, wished: string | undefined): string {
  if (wished !== undefined) return wished;
  const problem = nameProblem(source.name);
  if (problem === null) return source.name.normalize("NFC");
  throw new TaskFailure("invalid_arguments", { message: `The file's own name ${problem}`, nextStep: "Pass name." });
}

/**
 * The limits that a client can check. A version frees the bytes of the one it replaces, and a repeat under its key
 * stores nothing. Only the service can decide whether those fit, and it says so before it takes a byte. The same holds
 * for another account's vault, whose room counts.
 */
async function judgeRoom(task: Task, size: number, wish: UploadWish): Promise<void> {
  const client = await task.client();
  const { account } = await client.account.get({ signal: task.signal });
  const refusal = refusalFor(size, account, wish);
  if (refusal === null) return;
  const { role } = await client.vaults.get(wish.vaultId, { signal: task.signal });
  if (role !== "member") throw refusal;
}

function refusalFor(size: number, { limits, usage }: Account, wish: UploadWish): TaskFailure | null {
  const { fileBytes, storageBytes } = limits;
  if (size > fileBytes) {
    return new TaskFailure("file_too_large", {
      message: `The file has ${String(size)} bytes, the plan allows ${String(fileBytes)} a file; nothing was sent`,
      nextStep: "Use a smaller file, or tell the user that it needs another plan.",
    });
  }
  const free = storageBytes - usage.bytes;
  if (wish.ifExists === "version" || wish.idempotencyKey !== undefined || size <= free) return null;
  return new TaskFailure("storage_quota", {
    message: `The file has ${String(size)} bytes, ${String(Math.max(free, 0))} are free; nothing was sent`,
  });
}

async function findByName(task: Task, wish: UploadWish, name: string): Promise<File | null> {
  const client = await task.client();
  const query = { vaultId: wish.vaultId, folderId: wish.folderId ?? "root", name, limit: 1 };
  try {
    const page = await client.files.list(query, { signal: task.signal });
    return page.files[0] ?? null;
  } catch (thrown) {
    // The service takes no name for a shared vault: it must not see any.
    const unknown = toFailure(thrown, task.signal).code === "validation_failed" && (await task.chainAddress()) === null;
    if (!unknown) throw thrown;
    const { type } = await client.vaults.get(wish.vaultId, { signal: task.signal });
    throw type === "shared" ? new TaskFailure("shared_vault", { cause: thrown }) : thrown;
  }
}

/**
 * The file that an earlier call with the same key has stored in a shared vault. There each call encrypts again, so
 * only a client that decrypts can see that the bytes are the same. It accepts only a file of the same name and the
 * same content.
 */
async function findEarlier(task: Task, source: SourceFile, wish: UploadWish, name: string): Promise<Stored | null> {
  if (wish.idempotencyKey === undefined || (await task.chainAddress()) === null) return null;
  const file = await findByName(task, wish, name);
  if (file === null || !file.encrypted || file.size !== source.size) return null;
  const [local, stored] = [await digestLocal(task, source), await digestStored(task, file.id, file.size)];
  if (stored.damaged || stored.bytes !== local.bytes || stored.sha256 !== local.sha256) return null;
  return { file, bytes: local.bytes, sha256: local.sha256, replaced: false };
}

function nameTaken(file: File): TaskFailure {
  return new TaskFailure("name_exists", {
    nextStep: `Pass another name, ifExists: rename, or ifExists: version to replace the content of file ${file.id}.`,
  });
}

/** A file of that name may come or go between the look and the upload; a second look settles it. */
async function uploadVersion(task: Task, source: SourceFile, wish: UploadWish, name: string): Promise<Stored> {
  for (let attempt = 0; ; attempt += 1) {
    const earlier = await findEarlier(task, source, wish, name);
    if (earlier !== null) return earlier;
    const existing = await findByName(task, wish, name);
    try {
      return await send(task, source, {
        wish,
        name,
        key: existing === null ? wish.idempotencyKey : undefined,
        replaces: existing,
      });
    } catch (thrown) {
      const failure = toFailure(thrown, task.signal);
      const moved = failure.code === "name_exists" || failure.code === "not_found" || failure.code === "trashed";
      if (!moved || attempt > 0) throw failure;
    }
  }
}

const MOST_NUMBERS = 100;

/** Each number has its own key, derived from the given one: a repeat goes the same way and finds the same file. */
async function uploadRenamed(task: Task, source: SourceFile, wish: UploadWish, name: string): Promise<Stored> {
  for (let number = 0; number <= MOST_NUMBERS; number += 1) {
    const numbered = number === 0 ? name : numberedName(name, number);
    const key = wish.idempotencyKey === undefined ? undefined : `${wish.idempotencyKey}#${String(number)}`;
    if (key === undefined && (await findByName(task, wish, numbered)) !== null) continue;
    const earlier = await findEarlier(task, source, wish, numbered);
    if (earlier !== null) return earlier;
    try {
      return await send(task, source, { wish, name: numbered, key, replaces: null });
    } catch (thrown) {
      const failure = toFailure(thrown, task.signal);
      if (failure.code !== "name_exists") throw failure;
    }
  }
  throw new TaskFailure("name_exists", { message: `The name and ${String(MOST_NUMBERS)} numbered ones are taken` });
}

const MAX_STEM_BYTES = 180;

/** `report.pdf` → `report (2).pdf`; a long stem is cut so that the name stays valid. */
export function numberedName(name: string, number: number): string {
  const dot = name.lastIndexOf(".");
  const cut = dot > 0 && name.length - dot <= 20 ? dot : name.length;
  let stem = name.slice(0, cut);
  while (Buffer.byteLength(stem) > MAX_STEM_BYTES) stem = Array.from(stem).slice(0, -1).join("");
  return `${stem.trimEnd()} (${String(number)})${name.slice(cut)}`;
}

interface Sending {
  readonly wish: UploadWish;
  readonly name: string;
  readonly key: string | undefined;
  readonly replaces: File | null;
}

async function send(task: Task, source: SourceFile, { wish, name, key, replaces }: Sending): Promise<Stored> {
  const { uploadFile } = await import("@coffer/sdk/node");
  const place =
    replaces === null
      ? { vaultId: wish.vaultId, name, ...(wish.folderId === undefined ? {} : { folderId: wish.folderId }) }
      : { fileId: replaces.id, vaultId: wish.vaultId };
  const done = await uploadFile(await task.client(), source.path, {
    ...place,
    handle: await source.reopen(),
    ...(wish.mimeType === undefined ? {} : { contentType: wish.mimeType }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
    signal: task.signal,
    onProgress: ({ bytes, total }) => {
      task.progress(bytes, total ?? source.size);
    },
  });
  // In a shared vault the service's digest is of the encrypted bytes; the SDK has compared that one.
  const digestFits = done.file.encrypted || done.sha256 === done.file.sha256;
  if (done.bytes !== done.file.size || !digestFits) throw new TaskFailure("integrity_failed");
  return { file: done.file, bytes: done.bytes, sha256: done.sha256, replaced: replaces !== null };
}
