/** A Chromium of this machine, headless, with a profile of its own that goes with it. No part of the set-up: who has none skips these tests. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { TestContext } from "vitest";
import { openDevtools, type Devtools } from "./devtools.ts";
import { processesOf } from "./processes.ts";

/** A path or a name on PATH; empty: the usual names. */
const VARIABLE = "COFFER_CHROMIUM";
const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
const MISSING = `there is no Chromium on PATH: install Debian's "chromium", or name one in ${VARIABLE}`;

/** A start that has not come to its first answer by then hangs. */
const START_MS = 45_000;

export interface Chromium extends AsyncDisposable {
  readonly devtools: Devtools;
  readonly pid: number;
  /** Profile, temporary files and home: all that it writes. */
  readonly directory: string;
}

/** null: none here. @throws Error when the one that {@link VARIABLE} names is not there: asked for by name, it must run. */
export function findChromium(): string | null {
  const named = process.env[VARIABLE] ?? "";
  const found = (named === "" ? NAMES : [named]).map(findProgram).find((path) => path !== null) ?? null;
  if (found === null && named !== "") throw new Error(`${VARIABLE} names ${named}, which is no program`);
  return found;
}

/** Skips the test where there is no browser, and says what to install. */
export function requireChromium(context: TestContext): void {
  if (findChromium() === null) context.skip(MISSING);
}

function findProgram(name: string): string | null {
  const paths = isAbsolute(name)
    ? [name]
    : (process.env["PATH"] ?? "").split(delimiter).map((part) => join(part, name));
  return paths.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** All of its connections go through the proxy, those to this machine too. */
export async function startChromium(program: string, proxy: string): Promise<Chromium> {
  const directory = mkdtempSync(join(tmpdir(), "coffer-chromium-"));
  const temporary = join(directory, "tmp");
  mkdirSync(temporary);
  const child = spawn(program, argumentsOf(directory, proxy), {
    // A group of its own: what it starts ends with it.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      HOME: directory,
      TMPDIR: temporary,
      XDG_CONFIG_HOME: directory,
      XDG_CACHE_HOME: directory,
      XDG_RUNTIME_DIR: temporary,
    },
  });
  // One that cannot be started never exits: its error is its end.
  const exited = once(child, "exit").catch(() => undefined);
  const [, , , toBrowser, fromBrowser] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const devtools = openDevtools(toBrowser, fromBrowser);
  const end = (): void => endGroup(child);
  // Whatever ends this process: a browser without its test would stay.
  process.once("exit", end);
  const dispose = async (): Promise<void> => {
    process.off("exit", end);
    // One that hangs is not waited for.
    void devtools.call("Browser.close").catch(() => undefined);
    await Promise.race([exited, pause(5_000, undefined, { ref: false })]);
    endGroup(child);
    await exited;
    // A process that was killed is listed until the system has taken it down, which the exit of the first does not wait for.
    for (let tries = 0; tries < 100 && processesOf(directory).length > 0; tries += 1) await pause(50);
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const late = pause(START_MS, undefined, { ref: false }).then(hangs);
    await Promise.race([devtools.call("Browser.getVersion"), late]);
  } catch (error) {
    await dispose();
    throw new Error(`${program} did not start`, { cause: error });
  }
  return { devtools, pid: child.pid ?? 0, directory, [Symbol.asyncDispose]: dispose };
}

function hangs(): never {
  throw new Error(`it has said nothing for ${START_MS / 1000} s`);
}

function argumentsOf(directory: string, proxy: string): string[] {
  return [
    "--headless",
    // Tests run as root in containers, where its sandbox cannot be set up. It loads nothing but this repository's own pages.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    // It speaks to nobody but the page's servers.
    ...["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"],
    ...["--disable-sync", "--disable-default-apps", "--disable-extensions", "--disable-breakpad"],
    ...[`--proxy-server=${proxy}`, "--proxy-bypass-list=<-loopback>"],
    ...["--remote-debugging-pipe", `--user-data-dir=${join(directory, "profile")}`],
    "about:blank",
  ];
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
