/** Programs and processes of this machine. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const MEBIBYTE = 1024 * 1024;

/** Peers and load generators, with the Debian packages that bring them. */
const PACKAGES = { nginx: "nginx-light", rclone: "rclone", age: "age", wrk: "wrk", curl: "curl" } as const;

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

/** A directory that vanishes at the end. */
export async function openScratch(): Promise<AsyncDisposable & { readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-bench-"));
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true, maxRetries: 5 }) };
}

/** User and system time of a process so far, in seconds (proc(5): fields 14 and 15, in hundredths). */
export function processorSeconds(pid: number): number {
  const text = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** How long a process that is done with its work uses next to no processor, in milliseconds. */
const QUIET_MS = 500;

/** Resolves when a process works no longer: also on what nobody waits for. */
export async function isQuiet(pid: number): Promise<void> {
  for (let before = processorSeconds(pid); ;) {
    await pause(QUIET_MS);
    const now = processorSeconds(pid);
    if (now - before <= 0.02) return;
    before = now;
  }
}

export interface Program extends AsyncDisposable {
  readonly pid: number;
  readonly baseUrl: string;
}

/** Starts a peer that is told its port, and waits until it accepts connections. */
export async function startProgram(command: string, words: (port: number) => readonly string[]): Promise<Program> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${String(port)}`;
  const child = spawn(command, words(port), { stdio: "ignore" });
  const program = { pid: child.pid ?? 0, baseUrl, [Symbol.asyncDispose]: () => stopChild(child) };
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${String(child.exitCode)}`);
    try {
      await fetch(baseUrl);
      return program;
    } catch {
      await pause(50);
    }
  }
  await stopChild(child);
  throw new Error(`${command} does not accept connections`);
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Runs a program from its start to its end, which must be 0. Answers the seconds. */
export async function secondsOf(
  command: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const began = performance.now();
  const child = spawn(command, words, { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => child.once("exit", resolve).once("error", reject));
  const [code, , said] = await Promise.all([ended, buffer(child.stdout), buffer(child.stderr)]);
  const seconds = (performance.now() - began) / 1000;
  if (code !== 0) throw new Error(`${command} ${words.join(" ")} ended with ${String(code)}: ${said.toString()}`);
  return seconds;
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
  const quiet = ["--silent", "--show-error", "--output", "/dev/null", "--write-out", format];
  const { stdout } = await run("curl", [...quiet, ...words]);
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
