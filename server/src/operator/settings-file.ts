/** The file of settings that a command is given beside its own environment, such as those of the storage that data move to. */
import { type Config, type Environment, parseConfig } from "../config.ts";
import { readEnvFile } from "../config/env-file.ts";
import type { Streams } from "./command.ts";

/** Warns where others can read it. Throws ConfigError for lines that cannot be read. */
export function readSettings(path: string, streams: Pick<Streams, "note">): Environment {
  const { values, warning } = readEnvFile(path);
  if (warning !== null) streams.note(`${warning}\n`);
  return values;
}

export function readConfigFile(path: string, streams: Pick<Streams, "note">): Config {
  return parseConfig(readSettings(path, streams));
}
