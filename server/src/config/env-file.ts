/**
 * A file of settings, as systemd (`EnvironmentFile=`), Docker (`--env-file`) and Compose (`env_file`) read it: those lines alone that all of them
 * read alike. Quotes, for instance, belong to the value for Docker, and do not for the others.
 */
import { readFileSync, statSync } from "node:fs";
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
    warning: others ? `${path} has secrets and others can read it: chmod 600 ${path}` : null,
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
