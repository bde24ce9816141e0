/** The local indexes of names, in files beside the pins (file-format §14). */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { NameStore } from "../../search/name-store.ts";
import { configDirectory, type Environment } from "../config/config.ts";
import { fileErrorCode, makePrivateDirectory, replaceFile } from "./durable-file.ts";
import { hasNoPlace } from "./journal.ts";

const ENDING = ".names";

/** `vault-names` in the configuration's directory. */
export function namesDirectory(env?: Environment): string {
  return join(configDirectory(env), "vault-names");
}

/**
 * One file of mode 0600 for each vault, encrypted under a key of the vault. Several processes may share the directory:
 * each file is replaced as a whole, and the last one counts. Without a place to write, nothing is kept. `delete` of a
 * vault's id, or of the directory, loses nothing: the next search builds the index again.
 */
export function fileNames(directory: string = namesDirectory()): NameStore {
  const pathOf = (vaultId: string): string => {
    if (!/^[0-9a-f-]{36}$/.test(vaultId)) throw new TypeError("not the id of a vault");
    return join(directory, `${vaultId}${ENDING}`);
  };
  return {
    load: (vaultId) => orNull(readFile(pathOf(vaultId))),
    save: async (vaultId, bytes) => {
      const path = pathOf(vaultId);
      try {
        await makePrivateDirectory(directory);
        await replaceFile(path, bytes);
      } catch (error) {
        if (!hasNoPlace(error)) throw error;
      }
    },
    delete: (vaultId) => rm(pathOf(vaultId), { force: true }),
    list: async () => {
      const names = (await orNull(readdir(directory))) ?? [];
      return names.flatMap((name) => (name.endsWith(ENDING) ? [name.slice(0, -ENDING.length)] : []));
    },
  };
}

async function orNull<Value>(read: Promise<Value>): Promise<Value | null> {
  try {
    return await read;
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT" || hasNoPlace(error)) return null;
    throw error;
  }
}
