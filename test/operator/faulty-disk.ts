/** Makes system calls of a server's process fail, by a library that is preloaded into it. */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeDirectory } from "../kit/directory.ts";

const SOURCE = new URL("faulty-disk.c", import.meta.url).pathname;

export interface FaultyDisk {
  /** What a server needs to be under it. */
  readonly environment: Readonly<Record<string, string>>;
  /** From now on the call fails for files whose path has that part. */
  inject(call: "fsync" | "read" | "write", code: "EIO" | "EROFS" | "ENOSPC", part: string): void;
  clear(): void;
}

/** Returns why not where nothing can be compiled or preloaded. */
export async function openFaultyDisk(): Promise<FaultyDisk | string> {
  if (process.platform !== "linux") return "libraries are preloaded on Linux alone";
  const directory = makeDirectory();
  const library = join(directory, "faulty-disk.so");
  const faults = join(directory, "faults");
  try {
    await promisify(execFile)("cc", ["-shared", "-fPIC", "-o", library, SOURCE, "-ldl"]);
  } catch (error) {
    return `no library can be compiled (${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)})`;
  }
  const clear = (): void => {
    rmSync(faults, { recursive: true, force: true });
    mkdirSync(faults);
  };
  clear();
  return {
    environment: { LD_PRELOAD: library, COFFER_FAULTS: faults },
    inject: (call, code, part) => writeFileSync(join(faults, call), `${String(constants.errno[code])} ${part}`),
    clear,
  };
}
