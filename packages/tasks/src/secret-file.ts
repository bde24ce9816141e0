/** Secrets for people go into files that their owner alone reads, never into an answer. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Writes a secret into a new file of mode 0600 in `handed-out` of the configuration directory, which no tool may read.
 * @returns the file's path.
 */
export async function writeSecretFile(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  secret: string,
): Promise<string> {
  const { configDirectory } = await import("@coffer/sdk/node");
  const directory = join(configDirectory(env), "handed-out");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, name);
  await writeFile(path, `${secret}\n`, { mode: 0o600, flag: "wx" });
  return path;
}
