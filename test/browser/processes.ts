/** Which processes of this machine have something to do with a directory: its name is in the words that started them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Their ids; none where the system does not list processes in /proc. */
export function processesOf(directory: string): number[] {
  if (!existsSync("/proc/self/cmdline")) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && commandOf(name).includes(directory))
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // It has ended meanwhile.
  }
}
