/** `coffer` and rclone side by side: the same folders and files, each to its own server on loopback. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { join } from "node:path";
import { findProgram, peakMebibytes, startProgram } from "./machine.ts";
import { openScratch } from "./service.ts";
import { openSharedVaults, type SharedVaults } from "./shared-vaults.ts";

const PROGRAM = join(import.meta.dirname, "../packages/cli/dist/main.js");

const LOOK_MS = 50;

/** `coffer` as its users have it. */
export interface Coffer {
  readonly run: (words: readonly string[], way?: Way) => Promise<number>;
  /** What a program gets that opens no shared vault. */
  readonly environment: Readonly<Record<string, string>>;
}

interface Way {
  /** With the chain key that opens shared vaults. */
  readonly opens?: boolean;
  /** Gets the most resident memory so far, in MiB. */
  readonly notePeak?: (mebibytes: number) => void;
}

/** `directory` gets its home. */
export function openCoffer(directory: string, { settings }: Pick<SharedVaults, "settings">): Coffer {
  if (!existsSync(PROGRAM)) throw new Error("run npm run build first");
  const home = join(directory, "home");
  mkdirSync(home, { mode: 0o700 });
  const networkFile = join(directory, "network.json");
  writeFileSync(networkFile, JSON.stringify(settings.network));
  const { apiKey, baseUrl, chainKey } = settings;
  const plain = { PATH: process.env["PATH"] ?? "", HOME: home, SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: apiKey };
  const opener = { ...plain, SERVICE_CHAIN_PRIVATE_KEY: chainKey, SERVICE_NETWORK_FILE: networkFile };
  return {
    environment: plain,
    run: (words, { opens = false, notePeak } = {}) =>
      secondsOf(process.execPath, [PROGRAM, ...words], opens ? opener : plain, notePeak),
  };
}

export interface Peers extends AsyncDisposable {
  readonly directory: string;
  readonly stack: SharedVaults;
  /** Runs a command; answers its seconds. `opens`: with the chain key that opens shared vaults. */
  readonly coffer: (words: readonly string[], opens?: boolean) => Promise<number>;
  /** The same, of a Node program. */
  readonly node: (words: readonly string[]) => Promise<number>;
  /** The same, of rclone. `:webdav:PATH` is on its own server. */
  readonly rclone: (words: readonly string[]) => Promise<number>;
  /** Waits until a file is on the disk: `sync FILE`. */
  readonly flush: (path: string) => Promise<number>;
  /** Waits until all that was written is on the disk: `sync`. */
  readonly settle: () => Promise<void>;
  /** The most resident memory of a `coffer` so far, in MiB. */
  readonly peak: () => number;
}

/**
 * Both clients run as programs, from their start to their end, with their own defaults. `serve` fills what rclone's server
 * serves: it reads a directory once.
 */
export async function openPeers(serve?: (directory: string) => void): Promise<Peers> {
  await using opening = new AsyncDisposableStack();
  const { directory } = opening.use(await openScratch());
  const served = join(directory, "webdav");
  mkdirSync(served, { mode: 0o700 });
  serve?.(served);
  const stack = opening.use(await openSharedVaults(directory));
  const { run, environment } = openCoffer(directory, stack);
  const program = findProgram("rclone") ?? "rclone";
  const none = ["--config", "/dev/null"];
  const server = opening.use(
    await startProgram(program, (port) => ["serve", "webdav", served, "--addr", `127.0.0.1:${String(port)}`, ...none]),
  );
  let peak = 0;
  const notePeak = (mebibytes: number): void => void (peak = Math.max(peak, mebibytes));
  const stays = opening.move();
  const coffer = (words: readonly string[], opens = false): Promise<number> => run(words, { opens, notePeak });
  return {
    ...{ directory, stack, coffer },
    node: (words) => secondsOf(process.execPath, words, environment),
    rclone: (words) => secondsOf(program, [...words, "--webdav-url", server.baseUrl, ...none], environment),
    flush: (path) => secondsOf("sync", [path], environment),
    settle: async () => {
      await secondsOf("sync", [], environment);
    },
    peak: () => peak,
    [Symbol.asyncDispose]: () => stays.disposeAsync(),
  };
}

async function secondsOf(
  command: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  notePeak?: (mebibytes: number) => void,
): Promise<number> {
  const began = performance.now();
  const child = spawn(command, words, { env, stdio: ["ignore", "pipe", "pipe"] });
  const looking = setInterval(() => {
    const peak = peakMebibytes(child.pid ?? 0);
    // One that ends now has none.
    if (peak > 0) notePeak?.(peak);
  }, LOOK_MS);
  const [code, , said] = await Promise.all([
    new Promise((resolve) => void child.once("exit", resolve)).finally(() => clearInterval(looking)),
    buffer(child.stdout),
    buffer(child.stderr),
  ]);
  const seconds = (performance.now() - began) / 1000;
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${String(code)}: ${said.toString()}`);
  return seconds;
}
