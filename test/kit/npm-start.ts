/** `npm start` as a process of its own, and what its tests ask of it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const running = new Set<Run>();

export interface Run {
  readonly child: ChildProcess;
  stdout: string;
  stderr: string;
  /** Exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

/** `npm start` without its set-up, which installs packages and has tests of its own. */
export function npmStart(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}): Run {
  const npm = ["--prefix", REPOSITORY, "start", "--silent", "--ignore-scripts", "--", ...args];
  const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  return start("npm", npm, { ...options, env: { PATH: path, ...options.env } });
}

/** What `npm start` runs, without npm, which hands on two signals only. */
export function nodeStart(args: string[], env: Record<string, string>): Run {
  const program = join(REPOSITORY, "dev", "devstack", "src", "start.ts");
  return start(process.execPath, ["--conditions=coffer-source", program, ...args], { env });
}

/** Ends with {@link stopAll} at the latest. */
function start(program: string, args: string[], options: { cwd?: string; env: Record<string, string> }): Run {
  const child = spawn(program, args, {
    cwd: options.cwd ?? REPOSITORY,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const run: Run = {
    child,
    stdout: "",
    stderr: "",
    ended: once(child, "close").then(([code]) => {
      running.delete(run);
      return code as number | null;
    }),
    stop: async () => {
      child.kill("SIGTERM");
      await run.ended;
    },
  };
  child.stdout.on("data", (chunk: Buffer) => (run.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (run.stderr += chunk.toString()));
  running.add(run);
  return run;
}

/** For after each test. */
export async function stopAll(): Promise<void> {
  for (const run of running) await run.stop();
}

/** Waits for the words on stderr; fails when the run ends without them. */
export async function until(run: Run, words: string): Promise<void> {
  while (!run.stderr.includes(words)) {
    const more = await Promise.race([
      once(run.child.stderr ?? run.child, "data").then(() => true),
      run.ended.then(() => false),
    ]);
    if (!more && !run.stderr.includes(words))
      throw new Error(`ended without "${words}":\n${run.stderr}\n${run.stdout}`);
  }
}

/** `files` in the directory; answers with its path. */
export async function makeFolder(base: string, files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = join(base, "files");
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

/** Whether the service is up there. */
export async function answers(baseUrl: string): Promise<boolean> {
  return await fetch(`${baseUrl}/healthz`).then(
    (response) => response.ok,
    () => false,
  );
}
