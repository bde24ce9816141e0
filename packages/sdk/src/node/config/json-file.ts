/** Files in JSON that people edit too. */
import { readFile } from "node:fs/promises";

/**
 * The value in a file. Some editors and shells begin each text with a byte order mark, which a reader may pass over (RFC 8259 §8.1).
 * @throws SyntaxError for what is no JSON; Node's error for what cannot be read.
 */
export async function readJsonFile(path: string): Promise<unknown> {
  return JSON.parse((await readFile(path, "utf8")).replace(/^\ufeff/, ""));
}
