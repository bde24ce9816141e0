/** The archive of `npm run release:server`. */
import { execFileSync } from "node:child_process";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "../..");

/** Makes it in the directory, with SHA256SUMS beside it; its path. */
export function release(to: string): string {
  const script = path.join(ROOT, "dev/scripts/release-server.ts");
  return execFileSync(process.execPath, [script, "--to", to], { encoding: "utf8" }).trim();
}
