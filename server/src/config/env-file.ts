/**
 * A file of settings, as systemd (`EnvironmentFile=`), Docker (`--env-file`) and Compose (`env_file`) read it: those lines alone that all of them
 * read alike. Quotes, for instance, belong to the value for Docker, and do not for the others.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ConfigError } from "../config.ts";

export interface EnvFile {
  readonly values: Readonly<Record<string, string>>;
  /** Others can read its secrets: a sentence with the next step; null: its owner alone. */
  readonly warning: string | null;
}

/** @throws ConfigError when it cannot be read, or naming each line that is read in more than one way. No value is in it. */
export function readEnvFile(path: string): EnvFile {
  let text: string;
  let mode: number;
  try {
    text = readFileSync(path, "utf8");
    ({ mode } = statSync(path));
  } catch (error) {
    throw new ConfigError([`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
  // Its group may read it: the server's own user is in it, where root owns the file.
  const others = (mode & 0o027) !== 0;
  return {
    values: parseEnvFile(text, path),
    warning: others ? `${path} has secrets and others can read or change it: chmod 640 ${path}` : null,
  };
}

export function parseEnvFile(text: string, path: string): Record<string, string> {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line === "" || line.startsWith("#")) continue;
    const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(line) ?? [];
    const problem =
      name === undefined || value === undefined
        ? "neither NAME=VALUE nor a comment that begins with #"
        : name in values
          ? `${name} is set before: keep one of them`
          : problemOf(value);
    if (problem !== null) problems.push(`${path}, line ${String(index + 1)}: ${problem}`);
    else if (name !== undefined && value !== undefined) values[name] = value;
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return values;
}

/**
 * Sets a variable that the file sets already. All else in it stays as it is, byte for byte. Whoever reads meanwhile reads the old file or the new
 * one, and so does who reads after a crash. Its owner alone may write the new one, its group reads it where it could before, and nobody else does.
 */
export function changeEnvFile(path: string, name: string, value: string): void {
  const file = realpathSync(path);
  const text = readFileSync(file, "utf8");
  const line = new RegExp(`^${name}=.*$`, "m");
  if (!line.test(text)) throw new Error(`${path} does not set ${name}`);
  const { uid, gid, mode } = statSync(file);
  const partial = join(dirname(file), `.${randomUUID()}.part`);
  try {
    const descriptor = openSync(partial, "wx", 0o600);
    try {
      fchownSync(descriptor, uid, gid);
      fchmodSync(descriptor, mode & 0o640);
      writeFileSync(
        descriptor,
        text.replace(line, () => `${name}=${value}`),
      );
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(partial, file);
  } finally {
    rmSync(partial, { force: true });
  }
  flushDirectory(dirname(file));
}

function flushDirectory(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What one of the three reads in another way. */
const DIFFERENT: readonly (readonly [RegExp, string])[] = [
  [/[\u0000-\u001f\u007f]/, "a control character, perhaps of a file from Windows"],
  [/["'`]/, "quotes: write the value without them"],
  [/\\/, "a backslash"],
  [/\$/, "a dollar sign"],
  [/^ | $/, "white space at an end of the value: remove it"],
  [/ #/, "a comment behind the value: give it a line of its own"],
];

function problemOf(value: string): string | null {
  const found = DIFFERENT.find(([form]) => form.test(value))?.[1];
  return found === undefined ? null : `systemd and Docker do not read it alike: ${found}`;
}
