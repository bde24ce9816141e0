import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

/** An operator's command: it works on the data directory of a running server. */
export async function accessCode(dataDirectory: string): Promise<string> {
  const main = path.join(import.meta.dirname, "..", "..", "server", "src", "main.ts");
  const words = ["--conditions=coffer-source", main, "access-codes", "create", "--json"];
  const env = { ...process.env, SERVICE_ENV: "development", SERVICE_DATA_DIR: dataDirectory };
  const { stdout } = await promisify(execFile)(process.execPath, words, { env });
  return (JSON.parse(stdout) as { readonly code: string }).code;
}
