/** Unfinished creations of shared vaults, in a file beside the configuration: a crash must not leave a second vault object on the chain. */
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import { configurationError, lockedError } from "../../http/errors.ts";
import { configDirectory, type Environment } from "../config/config.ts";
import { fileErrorCode, makePrivateDirectory, replaceFile } from "./durable-file.ts";
import { readJsonFile } from "../config/json-file.ts";
import { acquireLock } from "./lock-file.ts";
import type { CreationJournal } from "../../transfer/journals.ts";

const LOCK_WAIT_MS = 5_000;

const stored = z.object({
  version: z.literal(1),
  /** The signed transaction, by what is being created. */
  creations: z.record(z.string(), z.string()),
});

type Creations = z.infer<typeof stored>["creations"];

/** `vault-creations.json` in the configuration's directory. */
export function creationFile(env?: Environment): string {
  return join(configDirectory(env), "vault-creations.json");
}

/**
 * Keeps signed transactions in a file of mode 0600 until their vaults are made; several processes may share it. It
 * holds no secret.
 * @throws SdkError `configuration` for a file that holds something else: without the record, a repeat would make a
 * second object.
 */
export function fileCreations(path: string = creationFile()): CreationJournal {
  return {
    load: async (creation) => keptIn(await read(path), creation),
    replace: async (creation, before, kept) => {
      await makePrivateDirectory(dirname(path));
      await using lock = await acquireLock(`${path}.lock`, LOCK_WAIT_MS);
      if (lock === null) throw lockedError(`Another process keeps ${path} locked`);
      const stored = await read(path);
      if (keptIn(stored, creation) !== before) return false;
      const { [creation]: _former, ...others } = stored;
      const creations = kept === null ? others : { ...others, [creation]: kept };
      await replaceFile(path, `${JSON.stringify({ version: 1, creations }, null, 2)}\n`);
      return true;
    },
  };
}

function keptIn(creations: Creations, creation: string): string | null {
  return Object.hasOwn(creations, creation) ? (creations[creation] ?? null) : null;
}

async function read(path: string): Promise<Creations> {
  try {
    return z.parse(stored, await readJsonFile(path)).creations;
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return {};
    throw configurationError(`The file ${path} does not hold unfinished creations of vaults: repair it from a copy`);
  }
}
