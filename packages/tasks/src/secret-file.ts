/** Secrets for people go into files that their owner alone reads, never into an answer. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Writes a secret into a new file of mode 0600 in `handed-out` of the configuration directory, which no tool may read.
 * @returns the file's path.
 */
export async function writeSecretFile(env: Environment, name: string, secret: string): Promise<string> {
  const directory = await handedOutDirectory(env);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, name);
  await writeFile(path, `${secret}\n`, { mode: 0o600, flag: "wx" });
  return path;
}

/** null: there is no such file. */
export async function readSecretFile(env: Environment, name: string): Promise<string | null> {
  const path = join(await handedOutDirectory(env), name);
  return await readFile(path, "utf8").then(
    (text) => text.trim(),
    () => null,
  );
}

export async function deleteSecretFile(env: Environment, name: string): Promise<void> {
  await rm(join(await handedOutDirectory(env), name), { force: true });
}

/** Where such files are. */
export async function handedOutDirectory(env: Environment): Promise<string> {
  const { configDirectory } = await import("@coffer/sdk/node");
  return join(configDirectory(env), "handed-out");
}
