/**
 * What one test file, with every process it starts, leaves for the scan: one directory, in which each thread of each process has
 * files of its own. All of it is written at once and never buffered: processes are killed here.
 */
import { appendFileSync, closeSync, existsSync, mkdtempSync, openSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { threadId } from "node:worker_threads";

/** Names the directory to whoever belongs to the unit. */
export const UNIT_VARIABLE = "COFFER_SCAN_UNIT";
/** Chooses the windows of plaintext; a failure prints it. */
export const SEED_VARIABLE = "COFFER_SCAN_SEED";
/** `full`: more windows, as of everything that is drawn by chance. */
const COUNTS_VARIABLE = "COFFER_TEST_COUNTS";

/** What is secret here, and how a finding calls it. */
export type SecretKind = "content" | "name" | "key" | "chain-key";

export interface ScanUnit {
  readonly directory: string;
  /** Goes up with each `beginAgain`: what was remembered of an earlier unit counts no more. */
  readonly generation: number;
  readonly seed: number;
  /** As many windows of plaintext are remembered by one thread. */
  readonly mostWindows: number;
  noteSecret(kind: SecretKind, bytes: Uint8Array): void;
  noteSent(bytes: Uint8Array): void;
  /** A directory in which a server or a local chain keeps its data. */
  noteDirectory(path: string): void;
  /** A process that was started to be tapped. */
  noteProcess(pid: number, line: string): void;
  noteLog(name: string, bytes: Uint8Array): void;
  /** What went wrong with the tapping itself: a failure, whatever the tests come to. */
  noteProblem(problem: string): void;
  /** Content or a name that a test sends in the clear on purpose. */
  noteAllowed(bytes: Uint8Array): void;
  /** The unit was scanned and its directory is gone: begins another one, for a runner that gives this process a further test file. */
  beginAgain(): void;
}

/** Stands on the global object, since a test runner loads this module a second time. */
const OPENED = Symbol.for("coffer.scan.unit");
const place = globalThis as { [OPENED]?: ScanUnit };

/** The unit of this process; null where nothing is scanned. */
export function currentUnit(): ScanUnit | null {
  return place[OPENED] ?? null;
}

/** Joins the unit that the environment names, or begins one, for this process and what it starts. */
export function openUnit(): ScanUnit {
  process.env[SEED_VARIABLE] ??= String(Math.floor(Math.random() * 2 ** 32));
  let files = openFiles(process.env[UNIT_VARIABLE] ?? beginUnit());
  let generation = 0;
  const known = new Set<string>();
  const append = (ending: string, text: string | Uint8Array): void => {
    try {
      appendFileSync(`${files.own}.${ending}`, text, { mode: 0o600 });
    } catch (error) {
      // The scan is over, and the directory gone with it.
      if (existsSync(files.directory)) throw error;
    }
  };
  return (place[OPENED] = {
    get directory() {
      return files.directory;
    },
    get generation() {
      return generation;
    },
    seed: Number(process.env[SEED_VARIABLE]) >>> 0,
    mostWindows: process.env[COUNTS_VARIABLE] === "full" ? 16_000 : 4_000,
    noteSecret(kind, bytes) {
      const line = `${kind} ${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}\n`;
      if (known.has(line)) return;
      known.add(line);
      writeSync(files.secrets, line);
    },
    noteSent: (bytes) => void writeSync(files.wire, bytes),
    noteDirectory(path) {
      if (known.has(path)) return;
      known.add(path);
      append("directories", `${path}\n`);
    },
    noteProcess: (pid, line) => append("processes", `${pid} ${line}\n`),
    noteProblem: (problem) => append("problems", `${problem}\n`),
    noteAllowed: (bytes) => append("allowed", `${Buffer.from(bytes).toString("hex")}\n`),
    noteLog: (name, bytes) => append(`${name}.log`, bytes),
    beginAgain() {
      for (const file of [files.wire, files.secrets]) closeSync(file);
      files = openFiles(beginUnit());
      generation += 1;
      known.clear();
    },
  });
}

/** What this thread writes. Open from the start: a process may run out of file descriptors later, on purpose. */
function openFiles(directory: string): { directory: string; own: string; wire: number; secrets: number } {
  const own = join(directory, `${process.pid}-${threadId}`);
  const open = (ending: string): number => openSync(`${own}.${ending}`, "a", 0o600);
  return { directory, own, wire: open("wire"), secrets: open("secrets") };
}

function beginUnit(): string {
  const directory = mkdtempSync(join(tmpdir(), "coffer-scan-"));
  process.env[UNIT_VARIABLE] = directory;
  return directory;
}
