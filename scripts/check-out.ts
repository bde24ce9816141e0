import { execFileSync } from "node:child_process";
import path from "node:path";

const ROOT = path.dirname(import.meta.dirname);

/** A tree of a commit at `<directory>/<name>`, set up; git forgets it once the directory is gone (`git worktree prune`). */
export function checkOut(directory: string, name: string, revision: string): string {
  const tree = path.join(directory, name);
  process.stderr.write(`setting ${revision} up …\n`);
  execFileSync("git", ["worktree", "prune"], { cwd: ROOT });
  execFileSync("git", ["worktree", "add", "--quiet", "--detach", tree, revision], { cwd: ROOT });
  execFileSync("node", ["scripts/setup.mjs"], { cwd: tree, stdio: "ignore" });
  return tree;
}
