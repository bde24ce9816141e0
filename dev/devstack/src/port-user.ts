/** Which process listens on a port of this machine, where the system shows it. */
import { readdir, readFile, readlink } from "node:fs/promises";

/** TCP_LISTEN of the kernel's `tcp_states.h`. */
const LISTENS = "0A";

/**
 * `node (process 123)`; null when nobody listens, another user's process does, or the system is not Linux. The tables of
 * proc(5) name the socket, and the open files of processes name theirs.
 */
export async function portUser(port: number): Promise<string | null> {
  const sockets = new Set((await Promise.all(["tcp", "tcp6"].map((table) => listeners(table, port)))).flat());
  if (sockets.size === 0) return null;
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const id of processes) if (await holdsOne(id, sockets)) return `${await nameOf(id)} (process ${id})`;
  return null;
}

/** Inodes of the sockets that listen there. */
async function listeners(table: string, port: number): Promise<string[]> {
  const text = await readFile(`/proc/net/${table}`, "utf8").catch(() => "");
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENS && local?.endsWith(wanted) === true)
    .flatMap((fields) => fields[9] ?? []);
}

async function holdsOne(id: string, sockets: ReadonlySet<string>): Promise<boolean> {
  // Another user's, or one that has just ended, shows nothing.
  const names = await readdir(`/proc/${id}/fd`).catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${id}/fd/${name}`).catch(() => "")));
  return targets.some((target) => sockets.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? ""));
}

async function nameOf(id: string): Promise<string> {
  return (await readFile(`/proc/${id}/comm`, "utf8").catch(() => "")).trim() || "a program";
}
