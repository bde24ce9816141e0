/** Files for tests: made with a plan, opened with its key. */
import { collect as collectBuffer, patternBytes } from "../../../test/kit/bytes.ts";
import type { FileKey, Unlock } from "./decrypt-file.ts";
import { encryptFile } from "./encrypt-file.ts";
import { newFilePlan, reopenFilePlan, type FilePlan, type NewFile } from "./file-plan.ts";
import { nodePlatform } from "./node/platform.ts";
import { DataKey } from "./secret-key.ts";

export const FILE_ID = "01890a5d-ac96-774b-bcce-b302099a8057";
export const VERSION_ID = "01890a5d-ac96-774b-bcce-b302099a8058";

export interface Planned {
  readonly plan: FilePlan;
  readonly dataKey: DataKey;
  readonly unlock: Unlock;
}

export async function planFile(file: Partial<NewFile> & { readonly contentSize: number | null }): Promise<Planned> {
  const keys: DataKey[] = [];
  const plan = await newFilePlan(nodePlatform, {
    fileId: FILE_ID,
    versionId: VERSION_ID,
    padded: false,
    ...file,
    envelopeOf: (request) => {
      // A copy: the plan's own is overwritten when it is made.
      keys.push(new DataKey(request.dataKey.reveal()));
      return file.envelopeOf?.(request) ?? new Uint8Array(40).fill(1);
    },
  });
  const [dataKey] = keys;
  if (dataKey === undefined) throw new Error("no envelope was asked for");
  return { plan, dataKey, unlock: (): FileKey => ({ dataKey: copyOf(dataKey) }) };
}

/** For a reader, which disposes the key that it gets. */
export function copyOf(dataKey: DataKey): DataKey {
  return new DataKey(dataKey.reveal());
}

/** The same plan once more, as the next process goes on with it: for parts. */
export function reopened({ dataKey, plan }: Planned): Promise<FilePlan> {
  const { contentSize, envelope, header, keys, padded } = plan;
  const saved = { contentSize, envelope, header, padded, salt: keys.salt, commitment: keys.commitment };
  return reopenFilePlan(nodePlatform, saved, copyOf(dataKey));
}

/** An encrypted file in memory, with all its facts. */
export async function makeFile(content: Uint8Array, padded = false, ids: Partial<NewFile> = {}) {
  const planned = await planFile({ ...ids, contentSize: content.length, padded });
  const file = await collect(encryptFile(planned.plan, content));
  return { ...planned, content, file };
}

export function contentOf(size: number, seed = "content"): Uint8Array {
  return new Uint8Array(patternBytes(seed, size));
}

export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await collectBuffer(pieces));
}

/** The content before the failure, and the failure; null when there was none. */
export async function collectUntilFailure(
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ readonly content: Uint8Array; readonly error: unknown }> {
  const all: Uint8Array[] = [];
  try {
    for await (const piece of pieces) all.push(new Uint8Array(piece));
    return { content: new Uint8Array(Buffer.concat(all)), error: null };
  } catch (error) {
    return { content: new Uint8Array(Buffer.concat(all)), error };
  }
}
