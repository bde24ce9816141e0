/** The profile store of this machine: a directory with one file for each table, and locks beside them. */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { requireName, type ProfileStore } from "../../store/profile-store.ts";
import { configDirectory, type Environment } from "../config/config-place.ts";
import { fileErrorCode, makePrivateDirectory } from "./durable-file.ts";
import { FileTable } from "./file-table.ts";
import { acquireLock } from "./lock-file.ts";

const ENDING = ".table";
/** No permission, a read-only system, or no usable home directory. `os.homedir` reports a missing one as a system error. */
const NO_PLACE = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "ERR_SYSTEM_ERROR"]);

/** `store` in the configuration's directory. */
export function storeDirectory(env?: Environment): string {
  return join(configDirectory(env), "store");
}

/**
 * Keeps tables in files of mode 0600, in a directory of mode 0700 that is made when it is first written to. Several
 * processes may share it. Default: {@link storeDirectory}.
 *
 * @example
 * ```ts
 * const opened = await openSharedVaults(await resolveSettings(), fileStore("/srv/agent/store"));
 * ```
 */
export function fileStore(directory?: string): ProfileStore {
  const tables = new Map<string, FileTable>();
  // Where there is no home directory, the first use says so, and not what merely may use it.
  const place = (): string => directory ?? storeDirectory();
  return {
    table: (name) => {
      const table = tables.get(requireName(name)) ?? new FileTable(join(place(), `${name}${ENDING}`));
      tables.set(name, table);
      return table;
    },
    tables: async (prefix) => {
      const names = (await namesIn(place())).flatMap((name) =>
        name.endsWith(ENDING) && name.startsWith(prefix) ? [name.slice(0, -ENDING.length)] : [],
      );
      return names.sort();
    },
    lock: async (name, waitMs) => {
      const path = join(place(), `${requireName(name)}.lock`);
      await makePrivateDirectory(dirname(path));
      return await acquireLock(path, waitMs);
    },
    cannotKeep: (error) => NO_PLACE.has(fileErrorCode(error) ?? ""),
  };
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}
