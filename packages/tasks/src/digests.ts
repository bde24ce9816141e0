/** Bytes and SHA-256 of a file here and of one in a vault. */
import { createHash } from "node:crypto";
import type { File } from "@coffer/sdk";
import type { Task } from "./task.ts";
import type { SourceFile } from "./paths/local-files.ts";

export interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** SHA-256 of a local file, read from its beginning. */
export async function digestLocal(task: Task, source: SourceFile): Promise<Digest> {
  const handle = await source.reopen();
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of handle.createReadStream({ signal: task.signal }) as AsyncIterable<Uint8Array>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

export interface StoredDigest extends Digest {
  /** Reading ended where the bytes were not what they have to be. */
  readonly damaged: boolean;
}

/** The SDK ends a damaged stream with an error; here damage is a result, with what was read. */
export async function digestStored(task: Task, id: string, size: number): Promise<StoredDigest> {
  const client = await task.client();
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    const content = await client.files.download(id, { signal: task.signal });
    for await (const chunk of content.stream) {
      hash.update(chunk);
      bytes += chunk.length;
      task.progress(bytes, size);
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { bytes, sha256: hash.digest("hex"), damaged: true };
  }
  return { bytes, sha256: hash.digest("hex"), damaged: false };
}

/** Whether a stored file is what it has to be, and whether a local one is the same. */
export interface Verification {
  readonly intact: boolean;
  /** null: there is no local file, or nothing to compare it with. */
  readonly equal: boolean | null;
  /** SHA-256 of the content. null: damaged, in a vault that only members read. */
  readonly sha256: string | null;
  readonly stored: StoredDigest;
  readonly local: Digest | null;
}

/** Reads all of the stored bytes. */
export async function verifyFile(task: Task, file: File, local: Digest | null): Promise<Verification> {
  const stored = await digestStored(task, file.id, file.size);
  // Only a client that decrypts it can compute this digest: the service lists the digest of the encrypted bytes.
  const sha256 = file.encrypted ? stored.sha256 : file.sha256;
  const intact = !stored.damaged && stored.sha256 === sha256 && stored.bytes === file.size;
  const isComparable = intact || !file.encrypted;
  const equal = local === null || !isComparable ? null : local.sha256 === sha256 && local.bytes === file.size;
  return { intact, equal, sha256: isComparable ? sha256 : null, stored, local };
}

const DAMAGE = new Set(["integrity_failed", "damaged", "wrong_key", "not_encrypted"]);

function isDamage(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && DAMAGE.has(error.code);
}
