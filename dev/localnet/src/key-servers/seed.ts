import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const BYTES = 32;
const FILE = "key-server-seed";

/**
 * The secret from which all master keys are derived. It is kept beside the chain, so that a restart opens what was
 * encrypted before. Without a directory it is new each time.
 *
 * @throws Error when the file is there and is not a seed: a new one would make every vault unreadable.
 */
export async function openSeed(directory: string | undefined): Promise<Uint8Array> {
  if (directory === undefined) return new Uint8Array(randomBytes(BYTES));
  const path = join(directory, FILE);
  const kept = await readSeed(path);
  if (kept !== null) return kept;
  const seed = randomBytes(BYTES);
  await writeFile(`${path}.new`, seed, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
  return new Uint8Array(seed);
}

async function readSeed(path: string): Promise<Uint8Array | null> {
  try {
    const seed = await readFile(path);
    if (seed.length !== BYTES) throw new Error(`${path} does not hold a seed of ${BYTES} bytes`);
    return new Uint8Array(seed);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
