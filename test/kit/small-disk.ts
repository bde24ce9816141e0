/** A file system of a few pages or megabytes, to be full on purpose. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Mounts a tmpfs of that size, such as `48m`; answers why not where that is not allowed. */
export async function mountSmall(directory: string, size: string): Promise<string | null> {
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory]);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n").at(-2) ?? error.message) : String(error);
  }
}

export async function unmount(directory: string): Promise<void> {
  await run("umount", [directory]);
}

export async function resize(directory: string, size: string): Promise<void> {
  await run("mount", ["-o", `remount,size=${size}`, directory]);
}
