/** Where this machine keeps its configuration. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The path of the configuration: `SERVICE_CONFIG_FILE`, else `config.json` in {@link configDirectory}. */
export function configFile(env: Environment = process.env): string {
  const file = nonEmpty(env["SERVICE_CONFIG_FILE"]);
  return file === null ? join(configDirectory(env), "config.json") : resolve(file);
}

/** `SERVICE_CONFIG_DIR`, else `$XDG_CONFIG_HOME/coffer`, else `~/.config/coffer`. */
export function configDirectory(env: Environment = process.env): string {
  const own = nonEmpty(env["SERVICE_CONFIG_DIR"]);
  if (own !== null) return resolve(own);
  const xdg = nonEmpty(env["XDG_CONFIG_HOME"]);
  // The XDG base directory specification ignores relative paths.
  const parent = xdg?.startsWith("/") === true ? xdg : join(nonEmpty(env["HOME"]) ?? homedir(), ".config");
  return join(parent, "coffer");
}

/** Set and not empty: an empty variable counts as unset. */
export function nonEmpty(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}
