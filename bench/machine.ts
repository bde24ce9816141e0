/** Programs and processes of this machine. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const MEBIBYTE = 1024 * 1024;

/** Peers and tools, with the Debian packages that bring them. */
const PACKAGES = {
  nginx: "nginx-light",
  rclone: "rclone",
  wrk: "wrk",
  curl: "curl",
} as const;

export type Tool = keyof typeof PACKAGES;

/** Null when all are installed, else which are not and how to get them. */
export function missingTools(...tools: readonly Tool[]): string | null {
  const missing = tools.filter((tool) => findProgram(tool) === null);
  if (missing.length === 0) return null;
  return `${missing.join(" and ")} not installed (Debian: apt-get install ${missing.map((tool) => PACKAGES[tool]).join(" ")})`;
}

/** Also where administrators' programs are, which are not on every user's PATH. */
export function findProgram(name: string): string | null {
  const directories = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** User and system time of a process so far, in seconds (proc(5): fields 14 and 15, in hundredths). */
export function processorSeconds(pid: number): number {
  const [user, system] = timesOf(pid);
  return (user + system) / 100;
}

/** The same of its children that have ended (fields 16 and 17). */
export function childSeconds(pid: number): number {
  const [, , user, system] = timesOf(pid);
  return (user + system) / 100;
}

function timesOf(pid: number): [user: number, system: number, childUser: number, childSystem: number] {
  const text = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  return [user, system, childUser, childSystem];
}

/** Peak resident memory of a process so far, in MiB (proc(5): VmHWM). */
export function peakMebibytes(pid: number): number {
  return statusMebibytes(pid, /^VmHWM:\s+(\d+) kB$/m);
}

/** Resident memory of a process now, in MiB (proc(5): VmRSS). */
export function residentMebibytes(pid: number): number {
  return statusMebibytes(pid, /^VmRSS:\s+(\d+) kB$/m);
}

function statusMebibytes(pid: number, line: RegExp): number {
  return Number(line.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1]) / 1024;
}

export interface Program extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  readonly baseUrl: string;
}

/** Starts a peer that takes its port as an argument or from a file, and waits until it accepts connections. */
export async function startProgram(command: string, words: (port: number) => readonly string[]): Promise<Program> {
  const port = await freePort();
  const child = spawn(command, words(port), { stdio: "ignore" });
  const stop = () => stopChild(child);
  try {
    await accepts(port, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, port, baseUrl: `http://127.0.0.1:${String(port)}`, [Symbol.asyncDispose]: stop };
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

async function accepts(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${String(child.exitCode)}`);
    try {
      await fetch(`http://127.0.0.1:${String(port)}/`);
      return;
    } catch {
      await pause(50);
    }
  }
  throw new Error(`${child.spawnfile} does not accept connections`);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Bytes that do not compress, in a new file. */
export function writeSample(path: string, mebibytes: number): void {
  const block = new Uint8Array(MEBIBYTE);
  let state = 1;
  writeFileSync(path, "");
  for (let at = 0; at < mebibytes; at += 1) {
    for (let byte = 0; byte < MEBIBYTE; byte += 4) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      block[byte] = state >>> 24;
      block[byte + 1] = state >>> 16;
      block[byte + 2] = state >>> 8;
    }
    writeFileSync(path, block, { flag: "a" });
  }
}

/** Runs curl; answers the speed it measured in MiB per second. Throws for any other status. */
export async function curl(
  direction: "download" | "upload",
  status: number,
  words: readonly string[],
): Promise<number> {
  const format = `%{http_code} %{speed_${direction}}`;
  const { stdout } = await run("curl", [
    "--silent",
    "--show-error",
    "--output",
    "/dev/null",
    "--write-out",
    format,
    ...words,
  ]);
  const [code, speed] = stdout.split(" ");
  if (Number(code) !== status) throw new Error(`curl ${words.at(-1) ?? ""} answered ${String(code)}`);
  return Number(speed) / MEBIBYTE;
}

/** Runs wrk with one thread and 32 connections; answers how many requests were answered, none of them an error. */
export async function wrk(seconds: number, url: string, headers: readonly string[] = []): Promise<number> {
  const words = ["-t1", "-c32", `-d${String(seconds)}s`, ...headers.flatMap((header) => ["-H", header]), url];
  const { stdout } = await run("wrk", words);
  const requests = Number(/^\s+(\d+) requests in/m.exec(stdout)?.[1]);
  if (!(requests > 0) || /Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk: ${stdout}`);
  return requests;
}
