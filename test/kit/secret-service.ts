/** A real Secret Service, of gnome-keyring, on a session bus of its own; what it keeps is in `home`. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { CLI_PEER_MODULES } from "../../dev/scripts/peers.ts";

export interface SecretService extends AsyncDisposable {
  /** What programs need to reach it. */
  readonly env: Readonly<Record<string, string>>;
  /** What it keeps of `coffer`. */
  list(): readonly { readonly account: string; readonly password: string }[];
}

/** What is missing here; null: nothing. */
export function whyNoSecretService(): string | null {
  for (const program of ["dbus-run-session", "gnome-keyring-daemon"])
    if (spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0)
      return `${program} is not installed; .ci/run installs it`;
  return existsSync(join(CLI_PEER_MODULES, "@napi-rs")) ? null : "the programs of test/cli/peers are not installed";
}

/** A locked one asks for its password, and there is no screen to ask on. */
export async function openSecretService(home: string, isLocked = false): Promise<SecretService> {
  const runtime = join(home, "runtime");
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  const daemon = "gnome-keyring-daemon --components=secrets";
  const start = isLocked ? `${daemon} --start` : `printf password | ${daemon} --unlock`;
  const script = `${start} >/dev/null; echo "address=$DBUS_SESSION_BUS_ADDRESS"; exec cat`;
  const place = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_RUNTIME_DIR: runtime };
  // It ends with its standard input.
  const bus = spawn("dbus-run-session", ["--", "sh", "-c", script], { env: place, stdio: ["pipe", "pipe", "ignore"] });
  const ended = once(bus, "exit");
  let said = "";
  while (!/address=.+\n/.test(said)) said += String((await once(bus.stdout, "data"))[0]);
  const address = /address=(.+)\n/.exec(said)?.[1] ?? "";
  const env = { ...place, DBUS_SESSION_BUS_ADDRESS: address, NODE_PATH: CLI_PEER_MODULES };
  return {
    env,
    list: () => {
      const library = createRequire(join(CLI_PEER_MODULES, "x.js")).resolve("@napi-rs/keyring");
      const program = `console.log(JSON.stringify(require(${JSON.stringify(library)}).findCredentials("coffer")))`;
      const { stdout } = spawnSync(process.execPath, ["-e", program], { env, encoding: "utf8" });
      return JSON.parse(stdout) as { account: string; password: string }[];
    },
    [Symbol.asyncDispose]: async () => {
      bus.stdin.end();
      await ended;
    },
  };
}
