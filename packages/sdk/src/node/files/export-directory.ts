/** Exports of shared vaults as directories of this machine. */
import { nodePlatform } from "@coffer/crypto/node";
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, opendir, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { connectionOf, type Client } from "../../client.ts";
import type { ExportOptions, ExportResult } from "../../shared-vaults/export/export.ts";
import { damagedExport, type ExportStore } from "../../shared-vaults/export/export-layout.ts";
import type { OpenExportOptions } from "../../shared-vaults/export/open-export.ts";
import type { OpenedExport } from "../../shared-vaults/export/opened-export.ts";
import { lockedError } from "../../http/errors.ts";
import { loadCode } from "../../connection/load-code.ts";
import { fileErrorCode, located, makePrivateDirectory, syncDirectory } from "../store/durable-file.ts";
import { acquireLock } from "../store/lock-file.ts";

/**
 * Writes a shared vault, without its trash, into a directory of mode 0700, encrypted as it is at the service. It adds the
 * chain's facts that a reader needs: `openExport` opens it when the service is gone. Names are inside and decide no
 * path. Repeat it after a failure, or to bring the directory up to date: it does not fetch again what is there. The
 * directory must hold nothing else: the call leaves foreign files alone and fails.
 * @throws SdkError `locked` while another process exports into it.
 *
 * @example
 * ```ts
 * await exportVault(client, vaultId, "research.export");
 * const opened = await openExport("research.export", { signer, network });
 * for await (const { id, name } of opened.files()) console.log(id, name);
 * ```
 */
export async function exportVault(
  client: Client,
  vaultId: string,
  directory: string,
  options?: ExportOptions,
): Promise<ExportResult> {
  const path = resolve(directory);
  for (const folder of ["", "records", "folders", "files", "content"]) await makePrivateDirectory(join(path, folder));
  // Two at once would each mistake the other's files for the rest of an earlier call, and sign them.
  await using lock = await acquireLock(join(path, "export.lock"), 0);
  if (lock === null) throw lockedError(`Another process exports into ${path}`);
  const { exportVault: write } = await loadCode();
  return await write(connectionOf(client), vaultId, { ...directoryStore(path), list: emptied(path) }, options);
}

/**
 * Opens a directory of {@link exportVault}, with the chain and the key servers of `network` alone.
 * @throws VaultError, see `OpenedExport`.
 */
export async function openExport(directory: string, options: OpenExportOptions): Promise<OpenedExport> {
  const { openExport: read } = await loadCode();
  return read(directoryStore(resolve(directory)), { platform: nodePlatform, ...options });
}

/** Temporary files that a crash may leave. */
const TEMPORARY = /\.[0-9a-f-]{36}\.part$/;

function directoryStore(directory: string): ExportStore {
  const pathOf = (path: string): string => {
    // This SDK makes paths from ids; this check holds whatever an id may be one day.
    if (!/^(?:[a-z]+\/)?[0-9a-z-]+\.[a-z]+$/.test(path)) throw new TypeError("not a path of an export");
    return join(directory, path);
  };
  return {
    write: (path, content) => writeWhole(pathOf(path), content),
    read: (path, most) => readAtMost(pathOf(path), most),
    open: async (path) => (await openThere(pathOf(path)))?.createReadStream() ?? null,
    size: (path) => sizeOf(pathOf(path)),
    list: (folder) => namesIn(directory, folder),
    remove: (path) => rm(pathOf(path), { force: true }),
  };
}

/** Reads one byte more than the limit, so that it notices a file which grows meanwhile, and never reads it whole. */
async function readAtMost(path: string, most: number): Promise<Uint8Array | null> {
  const file = await openThere(path);
  if (file === null) return null;
  try {
    const bytes = new Uint8Array(Math.min((await file.stat()).size, most) + 1);
    let filled = 0;
    for (let count = -1; count !== 0 && filled < bytes.length; filled += count)
      count = (await file.read(bytes, filled, bytes.length - filled)).bytesRead;
    if (filled > most) throw new RangeError(`${basename(path)} has more than ${String(most)} bytes`);
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

/** Somebody else may have filled the directory: never read anything that has no end, or that makes its reader wait. */
async function openThere(path: string): Promise<FileHandle | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
  throw damagedExport(`${basename(path)} is no file`);
}

async function writeWhole(path: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  const temporary = `${path}.${randomUUID()}.part`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      if (content instanceof Uint8Array) await file.writeFile(content);
      else for await (const piece of content) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw located(error, path);
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Without temporary names: a reader may read while the export is brought up to date. */
async function* namesIn(directory: string, folder: string): AsyncGenerator<string, void, undefined> {
  for await (const { name } of await opendir(join(directory, folder))) if (!TEMPORARY.test(name)) yield name;
}

/** The same for the writer: nobody else writes here, so a crash left every file with a temporary name. */
function emptied(directory: string): ExportStore["list"] {
  return async function* (folder) {
    for await (const { name } of await opendir(join(directory, folder)))
      if (TEMPORARY.test(name)) await rm(join(directory, folder, name), { force: true });
      else yield name;
  };
}
