/**
 * Which processes use a data directory on this machine. Each writes a file named by its process id. One that has ended
 * without removing its file (kill -9) is recognised by the start time of the process, as systems reuse ids.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { makeDirectory } from "./make-directory.ts";

/** Another machine's or container's process cannot be looked up: its file counts for as long as it is kept fresh. */
const FOREIGN_LIFETIME_MS = 10 * 60_000;
const REFRESH_MS = 60_000;

interface ProcessRecord {
  readonly pid: number;
  readonly startedAt: string;
  readonly host: string;
}

export interface ProcessEntry extends Disposable {
  /** Nobody else was using the directory when this process entered. */
  readonly alone: boolean;
}

/** Enters this process, then looks for others: of two that start together at least one sees the other. */
export function enterProcess(directory: string): ProcessEntry {
  makeDirectory(directory);
  const own = join(directory, `${process.pid}-${randomUUID()}`);
  const record: ProcessRecord = { pid: process.pid, startedAt: startOf(process.pid) ?? "", host: hostname() };
  writeFileSync(own, JSON.stringify(record), { mode: 0o600 });
  const others = entriesIn(directory).filter((path) => path !== own);
  const alive = others.filter(isAlive);
  for (const path of others) if (!alive.includes(path)) rmSync(path, { force: true });
  const refresh = setInterval(() => touch(own), REFRESH_MS);
  refresh.unref();
  return {
    alone: alive.length === 0,
    [Symbol.dispose]() {
      clearInterval(refresh);
      try {
        rmSync(own, { force: true });
      } catch {
        // A disk that takes no writes any more must not keep the process from its end: the file says which process it was.
      }
    },
  };
}

/** Whether any process uses the directory. Nothing is written. */
export function isInUse(directory: string): boolean {
  return existsSync(directory) && entriesIn(directory).some(isAlive);
}

function entriesIn(directory: string): string[] {
  return readdirSync(directory).map((name) => join(directory, name));
}

function isAlive(path: string): boolean {
  const record = readRecord(path);
  return record === null || record.host !== hostname() ? isFresh(path) : startOf(record.pid) === record.startedAt;
}

/** null: half-written, or gone again. */
function readRecord(path: string): ProcessRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is ProcessRecord {
  if (typeof value !== "object" || value === null) return false;
  const { pid, startedAt, host } = value as Partial<Record<keyof ProcessRecord, unknown>>;
  return typeof pid === "number" && typeof startedAt === "string" && typeof host === "string";
}

function isFresh(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts !== undefined && Date.now() - facts.mtimeMs < FOREIGN_LIFETIME_MS;
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Removed under us: the store's own health check reports a directory that is gone.
  }
}

/** When a process started, in the system's own words; null when there is no such process. */
function startOf(pid: number): string | null {
  return process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
}

/** proc(5): field 22 of /proc/PID/stat is the start time; field 2, the name, may hold spaces and parentheses. */
function startFromProc(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

function startFromPs(pid: number): string | null {
  try {
    return (
      execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).trim() || null
    );
  } catch {
    return null;
  }
}
