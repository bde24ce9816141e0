/**
 * Marks on files that name the process they belong to. They distinguish the files of a killed process from those of a
 * living one. A process id alone is not enough: systems reuse ids, containers at once.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { stat } from "node:fs/promises";
import { hostname } from "node:os";
import { fileErrorCode } from "./durable-file.ts";

/** `<pid>-<start>-<host>`: fit for a file's name. */
export const MARK_PATTERN = /^(\d{1,10})-([0-9a-f]{12})-([0-9a-f]{12})$/;
const UNKNOWN_START = "0".repeat(12);

let own: string | null = null;

/** The mark of this process. */
export function processMark(): string {
  own ??= markOf(process.pid);
  return own;
}

/** The mark of a process of this machine. */
export function markOf(pid: number): string {
  return `${String(pid)}-${startOf(pid) ?? UNKNOWN_START}-${hostTag()}`;
}

let host: string | null = null;

/**
 * The processes that this one can look up. Containers may share a host name and see each other's ids as nobody's, so the
 * namespace of process ids counts as well (pid_namespaces(7)), and the machine's own id (machine-id(5)) where names are
 * not unique. All three are the same after a restart of the machine.
 */
function hostTag(): string {
  host ??= tagOf(
    [
      hostname(),
      readOr("", () => readFileSync("/etc/machine-id", "utf8")),
      readOr("", () => readlinkSync("/proc/self/ns/pid")),
    ].join("\n"),
  );
  return host;
}

/**
 * Whether the process that marked `path` may still run. This machine cannot look up one of another machine or
 * container: it counts as running while the file was written to within `foreignMs`. A file without a mark belongs to
 * nobody.
 */
export async function isInUse(mark: string, path: string, foreignMs: number): Promise<boolean> {
  const [, pid, start, markedHost] = MARK_PATTERN.exec(mark) ?? [];
  if (pid === undefined) return false;
  if (markedHost !== hostTag()) return isFresh(path, foreignMs);
  if (!isRunning(Number(pid))) return false;
  const now = startOf(Number(pid)) ?? UNKNOWN_START;
  return now === start || now === UNKNOWN_START || start === UNKNOWN_START;
}

/** Twelve hex digits of a text's hash. */
export function tagOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

async function isFresh(path: string, ms: number): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs < ms;
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return false;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid > 0;
  } catch (error) {
    return fileErrorCode(error) === "EPERM";
  }
}

/** Null if the system does not show it. */
function startOf(pid: number): string | null {
  return readOr(null, () => tagOf(process.platform === "linux" ? startFromProc(pid) : startFromPs(pid)));
}

function readOr<Other>(other: Other, read: () => string): string | Other {
  try {
    return read();
  } catch {
    return other;
  }
}

/** proc(5): field 22 of /proc/PID/stat counts from the boot; field 2, the name, may hold spaces and parentheses. */
function startFromProc(pid: number): string {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
  const start = fields.slice(fields.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8")} ${start}`;
}

function startFromPs(pid: number): string {
  const env = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
  return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env,
  }).trim();
}
