import { isError } from "@coffer/contract";
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Node's error code of a failed file operation; null for another kind of error. */
export function fileErrorCode(error: unknown): string | null {
  return isError(error) && "code" in error && typeof error.code === "string" ? error.code : null;
}

/** The same error of the system, which names the place: writes to an open file do not. */
export function located<Thrown>(error: Thrown, place: string): Thrown {
  return isError(error) && "syscall" in error ? Object.assign(error, { path: place }) : error;
}

/** Whether the disk, or one's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const code = fileErrorCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

/** Makes a directory that only its owner can enter; an existing one stays as it is. */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/**
 * Writes a file so that a crash leaves the old or the new content, never a mixture. It writes a temporary file of mode
 * 0600, then fsync, rename, and fsync of the directory. A symbolic link stays a link; its target is replaced.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const target = await resolveLink(path);
  const directory = dirname(target);
  const temporary = join(directory, `.coffer-${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
    await syncDirectory(directory);
  } catch (error) {
    await rm(temporary, { force: true });
    throw located(error, target);
  }
}

/** Makes a rename or a link in the directory durable. Windows cannot open directories and does not need it. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function resolveLink(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return path;
    throw error;
  }
}
