/** Exports of shared vaults as directories of this machine. */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, opendir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { connectionOf, type Client } from "../client.ts";
import type { ExportOptions, ExportResult } from "../vaults/export.ts";
import type { ExportStore } from "../vaults/export-layout.ts";
import type { OpenedExport, OpenExportOptions } from "../vaults/open-export.ts";
import { fileErrorCode, makePrivateDirectory, syncDirectory } from "./durable-file.ts";

/**
 * Writes everything of a shared vault into a directory of mode 0700, encrypted as it is at the service, with the chain's facts that a reader
 * needs: `openExport` opens it when the service is gone. Names are inside and decide no path. Repeat it after a failure, or to bring the
 * directory up to date: what is there is not fetched again. Nothing else may be in the directory.
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
  const { exportVault: write } = await import("../vaults/export.ts");
  return write(connectionOf(client), vaultId, directoryStore(path), options);
}

/** Opens what {@link exportVault} wrote, with the chain and the key servers of `network` alone. @throws VaultError, see `OpenedExport`. */
export async function openExport(directory: string, options: OpenExportOptions): Promise<OpenedExport> {
  const [{ openExport: read }, { nodePlatform }] = await Promise.all([
    import("../vaults/open-export.ts"),
    import("@coffer/crypto/node"),
  ]);
  return read(directoryStore(resolve(directory)), { platform: nodePlatform, ...options });
}

/** What a crash may leave under a temporary name. */
const TEMPORARY = /\.[0-9a-f-]{36}\.part$/;

function directoryStore(directory: string): ExportStore {
  const pathOf = (path: string): string => {
    // Paths are made of ids by this SDK; this holds whatever an id may be one day.
    if (!/^(?:[a-z]+\/)?[0-9a-z-]+\.[a-z]+$/.test(path)) throw new TypeError("not a path of an export");
    return join(directory, path);
  };
  return {
    write: (path, content) => writeWhole(pathOf(path), content),
    read: async (path, most) => {
      const size = await sizeOf(pathOf(path));
      if (size === null) return null;
      if (size > most) throw new RangeError(`${path} has ${String(size)} bytes, and at most ${String(most)} are read`);
      return new Uint8Array(await readFile(pathOf(path)));
    },
    open: async (path) => ((await sizeOf(pathOf(path))) === null ? null : createReadStream(pathOf(path))),
    size: (path) => sizeOf(pathOf(path)),
    list: (folder) => namesIn(join(directory, folder)),
    remove: (path) => rm(pathOf(path), { force: true }),
  };
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
    throw error;
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

async function* namesIn(directory: string): AsyncGenerator<string, void, undefined> {
  for await (const entry of await opendir(directory)) {
    if (TEMPORARY.test(entry.name)) await rm(join(directory, entry.name), { force: true }).catch(() => undefined);
    else yield entry.name;
  }
}
