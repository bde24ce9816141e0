/** A development stack that moved: its profiles name an address where it is not any more. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What `npm start` writes beside the network file while it runs. */
const FILE = "env";
const LOOPBACK = /^export SERVICE_BASE_URL='?(http:\/\/127\.0\.0\.1:\d{1,5})'?$/m;

/** Where the stack of this network file is now; null: none runs, or it is another kind of service. */
export async function addressOfStack(networkFile: string): Promise<string | null> {
  const text = await readFile(join(dirname(networkFile), FILE), "utf8").catch(() => "");
  return LOOPBACK.exec(text)?.[1] ?? null;
}
