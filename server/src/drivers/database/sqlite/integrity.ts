/**
 * `PRAGMA integrity_check` reads the whole file, which may take minutes. A process of its own does it: requests go on meanwhile, and it can be
 * ended in the middle of a page.
 */
import { execFile } from "node:child_process";

const MOST_LINES = 5;
const PATIENCE_MS = 60_000;
const MOST_BYTES = 64 * 1024;

/** Each line leaves as it is found, so that a check that is ended has said what it knew. */
const CHECK = `
import { writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
const database = new DatabaseSync(process.argv[1], { readOnly: true, timeout: 1000 });
for (const row of database.prepare("PRAGMA integrity_check(${MOST_LINES})").iterate())
  writeSync(1, Object.values(row).join(" ") + "\\n");
`;

/** What the check says first; never rejects. */
export async function examine(path: string): Promise<readonly string[]> {
  try {
    return await run(path);
  } catch (error) {
    return [`the check did not begin: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function run(path: string): Promise<readonly string[]> {
  const words = ["--no-warnings", "--input-type=module", "--eval", CHECK, path];
  return new Promise((resolve) => {
    // Without the environment: it holds secrets, and options that are the server's.
    const options = { timeout: PATIENCE_MS, killSignal: "SIGKILL", maxBuffer: MOST_BYTES, env: {} } as const;
    execFile(process.execPath, words, options, (error, stdout, stderr) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      if (error !== null) lines.push(`the check did not end: ${reasonOf(error, stderr)}`);
      resolve(lines.slice(0, MOST_LINES + 1));
    });
  });
}

function reasonOf(error: Error & { readonly killed?: boolean }, stderr: string): string {
  if (error.killed === true) return `it took longer than ${PATIENCE_MS / 1000} s`;
  return /^Error: (.+)$/m.exec(stderr)?.[1] ?? error.name;
}
