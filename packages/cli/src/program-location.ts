/** Hosts start the tool server for months, with the agent's keys: where its program lies, nobody else may put another one. */
import { lstat, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, sep } from "node:path";
import { usage } from "./failure.ts";
import { shellWord } from "./shell-word.ts";
import type { World } from "./world.ts";

const WRITABLE_BY_OTHERS = 0o022;
/** In such a directory nobody removes or renames what is another's. What is not there, everybody can put there. */
const STICKY = 0o1000;

/**
 * Throws `invalid_arguments` for a program that the system removes, or that others can replace. Packages are where npm or git put
 * them, and have the modes that their user's `umask` gives; of them only npx's are refused.
 */
export async function requireLastingProgram({ self, toolServer, platform }: World): Promise<void> {
  const program = self.args.at(-1) ?? "";
  if (/[/\\]_npx[/\\]/.test(program))
    throw usage(
      "npx empties the folder that this runs from",
      "install coffer from where you got it, then coffer mcp install --allow DIR",
    );
  if (toolServer === null) return;
  if (isWithin(await realpath(tmpdir()), program))
    throw usage(
      `${program} is in a temporary directory, which the system empties`,
      "move the file to a directory that stays, such as your home, and run mcp install from there",
    );
  if (platform === "win32") return;
  const writable = await writableByOthers(program);
  if (writable !== null)
    throw usage(
      `Others can write to ${writable}, and so put another program at ${program}`,
      `chmod go-w ${shellWord(writable)} if it is yours, or move the file to a directory of your own; then run mcp install again`,
    );
}

const isWithin = (directory: string, file: string): boolean => file.startsWith(`${directory}${sep}`);

/** The file or a directory above it; null: all are of this user or of the superuser, and only these write to them. */
async function writableByOthers(file: string): Promise<string | null> {
  for (let at = file; ; at = dirname(at)) {
    const { mode, uid } = await lstat(at);
    const isSafelyShared = (mode & STICKY) !== 0 && at !== dirname(file);
    if ((mode & WRITABLE_BY_OTHERS) !== 0 && !isSafelyShared) return at;
    if (uid !== 0 && uid !== process.getuid?.()) return at;
    if (at === dirname(at)) return null;
  }
}
