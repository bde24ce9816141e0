import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const ROOT = path.dirname(import.meta.dirname);

/** A tree of a commit in the temporary directory, set up. It goes, and git forgets it, when it is disposed of. */
export function checkOut(revision: string): Disposable & { readonly path: string } {
  const tree = mkdtempSync(path.join(tmpdir(), "coffer-tree-"));
  process.stderr.write(`setting ${revision} up …\n`);
  execFileSync("git", ["worktree", "add", "--quiet", "--detach", tree, revision], { cwd: ROOT });
  execFileSync("node", ["scripts/setup.mjs"], { cwd: tree, stdio: "ignore" });
  return {
    path: tree,
    [Symbol.dispose]: () => execFileSync("git", ["worktree", "remove", "--force", tree], { cwd: ROOT }),
  };
}
