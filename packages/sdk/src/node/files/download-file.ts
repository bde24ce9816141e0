import { createHash, randomUUID } from "node:crypto";
import { link, lstat, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { connectionOf, type Client } from "../../client.ts";
import { openFileDownload } from "../../transfer/download.ts";
import { SdkError } from "../../http/errors.ts";
import { fileErrorCode, located, syncDirectory } from "../store/durable-file.ts";
import { writeNewFile } from "./new-file.ts";
import { isInUse, processMark, tagOf } from "../store/process-mark.ts";
import type { DownloadOptions } from "../../transfer/content-headers.ts";

/** A temporary file of another machine or container counts as left behind when nothing was written to it for so long. */
const FOREIGN_MS = 24 * 60 * 60_000;
const TEMPORARY = /^\.coffer-(\d+-[0-9a-f]{12}-[0-9a-f]{12})-([0-9a-f]{12})-[0-9a-f-]{36}\.part$/;

export interface DownloadFileOptions extends DownloadOptions {
  /** Replaces the file at the destination. Default: false, and an existing destination is never touched. */
  readonly overwrite?: boolean | undefined;
}

/** `sha256` (hex) and `bytes` describe the written file. For a whole file in a public vault they equal the server's. */
export interface DownloadFileResult {
  /** Absolute path of the written file. */
  readonly path: string;
  /** Bytes of the written file. */
  readonly bytes: number;
  /** SHA-256 of the written file, in hex. */
  readonly sha256: string;
}

/**
 * Downloads to a file of mode 0600. The bytes go to a temporary name in the destination's directory. They get their
 * name only when they are verified and on disk: the destination is whole or absent. A killed download may have left a
 * temporary file for the same destination; this call removes it.
 * @throws SdkError `destination_exists`.
 *
 * @example
 * ```ts
 * const { path, bytes, sha256 } = await downloadFile(client, fileId, "copy.pdf", { overwrite: true });
 * ```
 */
export async function downloadFile(
  client: Client,
  fileId: string,
  destination: string,
  options: DownloadFileOptions = {},
): Promise<DownloadFileResult> {
  const path = resolve(destination);
  await removeLeftovers(path);
  const { bytes, sha256 } = await fetchTo(client, fileId, path, options);
  await syncDirectory(dirname(path));
  return { path, bytes, sha256 };
}

/** What was written, and the digest of the stored bytes that it was read from. */
export interface Fetched extends Omit<DownloadFileResult, "path"> {
  readonly storedSha256: string;
}

/**
 * As {@link downloadFile}, for callers that remove leftovers and make names durable for a whole directory.
 * `beforePlaced` gets the temporary file when it is whole.
 */
export async function fetchTo(
  client: Client,
  fileId: string,
  path: string,
  options: DownloadFileOptions,
  beforePlaced?: (temporary: string) => Promise<void>,
): Promise<Fetched> {
  const { overwrite = false, ...downloading } = options;
  return await writeWhole(path, overwrite, async (temporary) => {
    const fetched = await receive(client, fileId, temporary, downloading);
    await beforePlaced?.(temporary);
    return fetched;
  });
}

/** `fill` writes the temporary file. It gets its name only when that is done: the file is whole or absent. */
export async function writeWhole<Filled>(
  path: string,
  overwrite: boolean,
  fill: (temporary: string) => Promise<Filled>,
): Promise<Filled> {
  if (!overwrite && (await exists(path))) throw destinationExists(path);
  const temporary = join(dirname(path), `.coffer-${processMark()}-${tagOf(basename(path))}-${randomUUID()}.part`);
  try {
    const filled = await fill(temporary);
    await placeFile(temporary, path, overwrite);
    return filled;
  } catch (error) {
    throw located(error, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Best effort: a file that cannot be removed now does not stop the download. */
async function removeLeftovers(path: string): Promise<void> {
  const directory = dirname(path);
  const names = await readdir(directory).catch(() => []);
  for (const name of names)
    if (TEMPORARY.exec(name)?.[2] === tagOf(basename(path))) await removeLeftover(join(directory, name));
}

/** Whether a download that was killed may have left a file of this name. */
export function isLeftover(name: string): boolean {
  return TEMPORARY.test(name);
}

/** Removes what a killed download left, and nothing of a living process. */
export async function removeLeftover(path: string): Promise<void> {
  const mark = TEMPORARY.exec(basename(path))?.[1];
  if (mark === undefined || (await isInUse(mark, path, FOREIGN_MS))) return;
  await rm(path, { force: true }).catch(() => undefined);
}

async function receive(client: Client, fileId: string, temporary: string, options: DownloadOptions): Promise<Fetched> {
  const connection = connectionOf(client);
  // A piece is copied or written before the next is asked for.
  const download = await openFileDownload(connection, fileId, { ...options, reuseBuffer: true });
  try {
    const { etag, range, sha256: storedSha256 } = download;
    // Only stored bytes have a tag. The stream verifies all of them against their digest, and the cipher each decrypted one.
    const isTold = options.range === undefined && (etag !== null || connection.sharedVaults === null);
    const hash = isTold ? null : createHash("sha256");
    const bytes = await writeNewFile(temporary, download.stream, { hash, length: range.length });
    return { bytes, sha256: hash?.digest("hex") ?? storedSha256, storedSha256 };
  } catch (error) {
    // Ended already, unless the file could not be made.
    await download.stream.cancel().catch(() => undefined);
    throw error;
  }
}

/**
 * Gives a file another name. `link` fails when the name exists, where `rename` would silently replace it. Without
 * `overwrite` the caller removes the first name.
 */
export async function placeFile(temporary: string, path: string, overwrite: boolean): Promise<void> {
  if (overwrite) {
    await rename(temporary, path);
    return;
  }
  try {
    await link(temporary, path);
  } catch (error) {
    if (fileErrorCode(error) === "EEXIST") throw destinationExists(path);
    if (!lacksLinks(error)) throw error;
    await placeWithoutLinks(temporary, path);
  }
}

/** Whether an error of `link` says that there are no hard links, or no more of them. */
export function lacksLinks(error: unknown): boolean {
  return ["EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK"].includes(fileErrorCode(error) ?? "");
}

/** File systems without hard links (FAT): claim the name, then move onto the claim. */
async function placeWithoutLinks(temporary: string, path: string): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    throw fileErrorCode(error) === "EEXIST" ? destinationExists(path) : error;
  }
  await rename(temporary, path);
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return false;
    throw error;
  }
}

export function destinationExists(path: string): SdkError {
  return new SdkError(`${path} exists`, {
    code: "destination_exists",
    retryable: false,
    nextStep: "Choose another destination, or allow overwriting.",
  });
}
