/** Registers the tool server with MCP hosts. The entry names programs and files, never a secret. */
import { chmod, mkdir, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { randomBytes } from "node:crypto";
import { createPatch } from "diff";
import { TaskFailure } from "../failure.ts";
import type { Host } from "./hosts.ts";
import { entryIn, renderEntry, withEntry, type ServerEntry } from "./settings-text.ts";

/** The name of the server in every host. */
export const SERVER_NAME = "coffer";

export interface InstallChange {
  readonly host: Host;
  readonly act: "added" | "changed" | "removed" | "unchanged";
  /** What changes in the file, as a unified diff of the lines about this server. Empty: nothing. */
  readonly diff: string;
}

export type InstallState = {
  readonly host: Host;
  /** `absent`: the host is not there. `other`: an entry of this name starts something else. */
  readonly state: "installed" | "missing" | "other" | "absent" | "unreadable";
  /** Why the settings cannot be read. */
  readonly problem: string | null;
};

/** Puts the entry into the host's settings, or shows what would change. Doing it twice changes nothing. */
export async function installInto(host: Host, entry: ServerEntry, dryRun: boolean): Promise<InstallChange> {
  return await change(host, renderEntry(host, entry), dryRun);
}

export async function uninstallFrom(host: Host, dryRun: boolean): Promise<InstallChange> {
  return await change(host, null, dryRun);
}

/** Whether a host starts this server. Never rejects for a file that is broken. */
export async function installState(host: Host, entry: ServerEntry): Promise<InstallState> {
  try {
    const text = await readText(host.file);
    const current = text === null ? null : entryIn(host, text, SERVER_NAME);
    if (current !== null) return { host, state: startsSame(current, entry) ? "installed" : "other", problem: null };
    return { host, state: (await isHostPresent(host)) ? "missing" : "absent", problem: null };
  } catch (thrown) {
    const problem = thrown instanceof TaskFailure ? thrown.message : "its settings cannot be read";
    return { host, state: "unreadable", problem };
  }
}

/** A host that was never started has no directory. */
export async function isHostPresent(host: Host): Promise<boolean> {
  if (host.id === "claude-code" || host.id === "codex") return (await readText(host.file)) !== null;
  return (await stat(dirname(host.file)).catch(() => null))?.isDirectory() === true;
}

async function change(host: Host, entry: Record<string, unknown> | null, dryRun: boolean): Promise<InstallChange> {
  const before = await readText(host.file);
  const current = before === null ? null : entryIn(host, before, SERVER_NAME);
  const isSame = entry === null ? current === null : JSON.stringify(current) === JSON.stringify(entry);
  if (isSame) return { host, act: "unchanged", diff: "" };
  const after = withEntry(host, before ?? "", SERVER_NAME, entry);
  const act = entry === null ? "removed" : current === null ? "added" : "changed";
  const diff = createPatch(host.file, before ?? "", after, "now", dryRun ? "then" : "new", { context: 0 });
  if (!dryRun) await replace(host.file, after, before);
  return { host, act, diff };
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return null;
    throw error;
  }
}

/** Whole or not at all, with the mode that the file has. A link keeps leading to its file. */
async function replace(file: string, text: string, before: string | null): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const real = before === null ? file : await realpath(file);
  // The host may have written meanwhile: its change is not lost.
  if ((await readText(real)) !== before)
    throw new TaskFailure("source_changed", { message: `${file} changed meanwhile, and was left as it is` });
  const mode = before === null ? 0o600 : (await stat(real)).mode & 0o777;
  const temporary = join(dirname(real), `.coffer-${randomBytes(6).toString("hex")}`);
  await writeFile(temporary, text, { mode, flag: "wx" });
  await chmod(temporary, mode);
  await rename(temporary, real);
}

function startsSame(current: unknown, { command, args }: ServerEntry): boolean {
  if (typeof current !== "object" || current === null || !("args" in current) || !Array.isArray(current.args))
    return false;
  return "command" in current && current.command === command && current.args[0] === args[0];
}
