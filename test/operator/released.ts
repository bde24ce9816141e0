/** The archive of `npm run release:server`. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "../..");
const MADE = path.join(ROOT, "node_modules", ".cache", "coffer-released");

/** Makes it in the directory, with SHA256SUMS beside it; its path. */
export function release(to: string): string {
  const script = path.join(ROOT, "dev/scripts/release-server.ts");
  return execFileSync(process.execPath, [script, "--to", to], { encoding: "utf8" }).trim();
}

/** The same, as it was made before of the same commit: several test files need one, and it takes a while. */
export function releasedInto(to: string): string {
  const git = (...words: string[]): string => execFileSync("git", words, { cwd: ROOT, encoding: "utf8" }).trim();
  if (git("status", "--porcelain") !== "") return release(to);
  const made = path.join(MADE, git("rev-parse", "HEAD"));
  if (!existsSync(made)) {
    mkdirSync(MADE, { recursive: true });
    const scratch = mkdtempSync(path.join(MADE, "part-"));
    release(scratch);
    try {
      renameSync(scratch, made);
    } catch {
      // Another test file was faster.
      rmSync(scratch, { recursive: true });
    }
  }
  cpSync(made, to, { recursive: true });
  return path.join(to, globSync("*.tar.gz", { cwd: made })[0] ?? "");
}
