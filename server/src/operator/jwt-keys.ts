/**
 * `coffer-server --env-file FILE jwt-keys …`: rotates the key that signs access tokens while several processes serve. Each step is one that a
 * process which has not taken it yet gets along with, so processes restart one after the other, and nobody is refused.
 */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { ACCESS_TOKEN_SECONDS } from "@coffer/contract";
import type { Config } from "../config.ts";
import { changeEnvFile, readEnvFile } from "../config/env-file.ts";
import { readJwtKeys } from "../config/secrets.ts";
import { systemClock } from "../ports/clock.ts";
import { type OperatorCommand, type Streams, UsageError } from "./command.ts";
import { FLAG, read } from "./options.ts";

const EXIT_DONE = 0;
const EXIT_NOT_NOW = 1;
const SETTING = "SERVICE_JWT_KEYS";
const SECRET_BYTES = 48;
/** How long a token of the old key is good after the last process that signs with it has ended. Clocks differ by a little. */
const WAIT_MINUTES = ACCESS_TOKEN_SECONDS / 60 + 1;
const RESTART = "Restart every process, one at a time, each once the one before answers 200 at /readyz.";

export const addJwtKey: OperatorCommand = {
  words: "jwt-keys add",
  changesSettings: true,
  options: "",
  about:
    "Rotates the key of access tokens, first step: puts a new key behind those of SERVICE_JWT_KEYS in the file of --env-file. No key is shown.",
  run(config, words, streams) {
    read(addJwtKey, words, {});
    const file = requireFile(config, streams);
    const { keys } = file;
    if (keys.length > 1) return refuse(streams, `${describe(file)}: a rotation is under way`, nextOf(file));
    const kid = `k${String(Math.max(...keys.map(numberOf)) + 1)}`;
    write(file, [...keys, { kid, entry: `${kid}:${randomBytes(SECRET_BYTES).toString("base64")}` }]);
    streams.note(`Added the key ${kid}. Nothing is signed with it yet\n`);
    return tell(streams, `${RESTART} Then: ${file.command} promote`);
  },
};

export const promoteJwtKey: OperatorCommand = {
  words: "jwt-keys promote",
  changesSettings: true,
  options: "",
  about:
    "Second step, once every process was restarted: puts the new key first, which signs. The old one still counts.",
  run(config, words, streams) {
    read(promoteJwtKey, words, {});
    const file = requireFile(config, streams);
    const newest = file.keys.at(-1);
    if (newest === undefined || stepOf(file) !== "added") return refuse(streams, describe(file), nextOf(file));
    write(file, [newest, ...file.keys.slice(0, -1)]);
    streams.note(`The key ${newest.kid} is the first now: processes sign with it once they are restarted\n`);
    return tell(streams, `${RESTART} ${String(WAIT_MINUTES)} minutes after the last one: ${file.command} drop`);
  },
};

export const dropJwtKeys: OperatorCommand = {
  words: "jwt-keys drop",
  changesSettings: true,
  options: "[--now]",
  about: `Third step, ${String(WAIT_MINUTES)} minutes after every process was restarted once more: removes the keys behind the first. --now does not wait, for a key that others know: whose token it signed has to refresh it.`,
  run(config, words, streams) {
    const { values } = read(dropJwtKeys, words, { now: FLAG });
    const file = requireFile(config, streams);
    const [first, ...others] = file.keys;
    const step = stepOf(file);
    if (first === undefined || step === "one key" || step === "added")
      return refuse(streams, describe(file), nextOf(file));
    const minutes = (systemClock.now() - statSync(file.path).mtimeMs) / 60_000;
    if (minutes < WAIT_MINUTES && values.now !== true)
      return refuse(
        streams,
        `${file.path} was changed less than ${String(WAIT_MINUTES)} minutes ago, and tokens of the old key are good for that long after the last restart`,
        nextOf(file),
      );
    write(file, [first]);
    streams.note(`Dropped ${others.map(({ kid }) => kid).join(" and ")}: ${first.kid} is the only key\n`);
    return tell(streams, `${RESTART} That ends the rotation.`);
  },
};

interface NamedKey {
  readonly kid: string;
  /** As the setting has it, with its secret: it is in no output. */
  readonly entry: string;
}

interface SettingsFile {
  readonly path: string;
  /** What begins the line of the next step. */
  readonly command: string;
  readonly keys: readonly NamedKey[];
}

function requireFile({ secrets }: Config, { envFile: path }: Streams): SettingsFile {
  if (path === null)
    throw new UsageError(
      `jwt-keys changes the file of settings: coffer-server --env-file /etc/coffer/server.env jwt-keys add. Where ${SETTING} comes from elsewhere, take the same steps there`,
    );
  const value = readEnvFile(path).values[SETTING] ?? "";
  const there = readJwtKeys({ jwtKeys: value });
  const counts = secrets.jwtKeys;
  const isSame = counts.length === there.length && there.every((key, at) => isSameKey(key, counts[at]));
  if (value === "" || !isSame)
    throw new UsageError(
      `${SETTING} of the environment counts, and not what ${path} has: take it out of the environment, or take the steps of jwt-keys where it is set`,
    );
  const entries = value.split(",");
  return {
    path,
    command: `coffer-server --env-file ${/^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`} jwt-keys`,
    keys: entries.map((entry) => ({ kid: entry.slice(0, entry.indexOf(":")), entry })),
  };
}

type JwtKey = Config["secrets"]["jwtKeys"][number];

function isSameKey(key: JwtKey, other: JwtKey | undefined): boolean {
  return other !== undefined && key.kid === other.kid && Buffer.from(key.secret).equals(Buffer.from(other.secret));
}

/** Keys that this command made are numbered; 0 for others. */
function numberOf({ kid }: NamedKey): number {
  return Number(/^k(\d{1,9})$/.exec(kid)?.[1] ?? 0);
}

/** Where the newest key stands. Somebody put the keys there by hand where their names do not say which one that is. */
function stepOf({ keys }: SettingsFile): "one key" | "added" | "promoted" | "by hand" {
  if (keys.length === 1) return "one key";
  const numbers = keys.map(numberOf);
  const highest = Math.max(...numbers);
  if (numbers.indexOf(highest) === keys.length - 1) return "added";
  return numbers.lastIndexOf(highest) === 0 ? "promoted" : "by hand";
}

function describe({ path, keys }: SettingsFile): string {
  return keys.length === 1
    ? `${path} has one key, ${keys[0]?.kid ?? ""}`
    : `${path} has ${keys.map(({ kid }) => kid).join(", then ")}`;
}

function nextOf(file: SettingsFile): string {
  const step = stepOf(file);
  if (step === "one key") return `${file.command} add`;
  if (step === "added") return `once every process was restarted: ${file.command} promote`;
  const drop = `${String(WAIT_MINUTES)} minutes after every process was restarted: ${file.command} drop`;
  return step === "promoted" ? drop : `put the newest first by hand, and ${drop}`;
}

function write({ path }: SettingsFile, keys: readonly NamedKey[]): void {
  changeEnvFile(path, SETTING, keys.map(({ entry }) => entry).join(","));
}

function tell(streams: Streams, next: string): Promise<number> {
  streams.note(`Next: ${next}\n`);
  return Promise.resolve(EXIT_DONE);
}

function refuse(streams: Streams, why: string, next: string): Promise<number> {
  streams.note(`Nothing was changed: ${why}. Next: ${next}\n`);
  return Promise.resolve(EXIT_NOT_NOW);
}
