/**
 * docs/guides/operator.md as an operator follows it: each block as printed, in order, in a mount namespace with its own /etc, /opt, /var/lib,
 * /usr/local and home, without this checkout and its packages. What `systemctl` would start is started as the unit says it.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { type Block, blocksOf } from "../../dev/scripts/pages/documents.ts";
import { Terminal } from "../../dev/scripts/pages/terminal.ts";
import { makeDirectory } from "../kit/directory.ts";
import { releasedInto } from "./released.ts";

const ROOT = path.join(import.meta.dirname, "../..");
/** Whatever was started in it ends with its first process. */
const THROUGH = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
const PATIENCE_MS = 60_000;
/** Commands that serve until they are stopped, and what they say when they are ready. */
const SERVING = [{ command: /--trial$/m, ready: /tries out the backup on http/ }];

/** A machine with nothing of Coffer on it, on which everything else is as here. */
function machineIn(scratch: string): string {
  const own = ["/opt", "/var/lib", "/var/backups", "/usr/local", "/root", "/mnt", ROOT];
  return [
    "mount --make-rprivate /",
    "ip link set lo up",
    `cp -a /etc ${scratch}/etc && mount --bind ${scratch}/etc /etc`,
    ...own.map(
      (directory, at) =>
        `mkdir -p ${directory} ${scratch}/own-${String(at)} && mount --bind ${scratch}/own-${String(at)} ${directory}`,
    ),
    "mkdir /usr/local/bin",
    "mount -t tmpfs -o size=256m tmpfs /var/lib",
    // The scan of tests loads from the checkout, and writes as root.
    "unset NODE_OPTIONS",
  ].join("\n");
}

/** `systemctl enable --now UNIT`, `restart` and `stop`, as far as a page needs them: the unit's program, user and environment. */
function likeSystemd(line: string): string {
  const [, verb = "", ...words] = line.trim().split(/\s+/);
  const stop = 'if [ -n "${unit:-}" ]; then kill "$unit"; wait "$unit" || true; unit=; fi';
  if (verb === "stop") return stop;
  if (verb === "daemon-reload" || verb === "status") return ":";
  if (verb !== "enable" && verb !== "restart" && verb !== "start") throw new Error(`this test does not know: ${line}`);
  const unit = readFileSync(path.join(ROOT, "deploy/coffer-server.service"), "utf8");
  const of = (name: string): string =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => value).join(" ");
  if (verb === "enable" && words.at(-1) !== `/opt/coffer/deploy/coffer-server.service`) throw new Error(line);
  return [
    verb === "restart" ? stop : ":",
    `install --directory --owner=${of("User")} --group=${of("Group")} --mode=${of("StateDirectoryMode")} /var/lib/${of("StateDirectory")}`,
    `cd ${of("WorkingDirectory")}`,
    // The shell reads the file as systemd does: it takes no line that both would read differently.
    `(set -a; . ${of("EnvironmentFile")}; exec setsid setpriv --reuid=${of("User")} --regid=${of("Group")} --init-groups env ${of("Environment")} ${of("ExecStart")}) >/tmp/unit.log 2>&1 & unit=$!`,
    "cd - >/dev/null",
  ].join("\n");
}

async function follow(terminal: Terminal, { code, place }: Block): Promise<string> {
  const lines = code.split("\n").map((line) => (line.startsWith("systemctl ") ? likeSystemd(line) : line));
  const text = lines.join("\n").trimEnd();
  const serving = SERVING.find(({ command }) => command.test(text));
  try {
    if (serving === undefined) return await terminal.paste(text);
    const [last = "", ...before] = text.split("\n").reverse();
    await terminal.paste(before.reverse().join("\n"));
    const printed = await terminal.pasteServing(last, serving.ready);
    await terminal.interrupt();
    return printed;
  } catch (error) {
    throw new Error(`${place}: ${String(error)}`, { cause: error });
  }
}

it("every block of the operator's page runs as printed, on a machine with nothing else of Coffer [issue 51]", async (context) => {
  const allowed = spawnSync("unshare", [...THROUGH.slice(1), "true"]).status === 0 && process.getuid?.() === 0;
  if (!allowed) context.skip("this user may not have a mount namespace");
  const [scratch, downloads] = [makeDirectory(), makeDirectory()];
  releasedInto(downloads);
  const blocks = blocksOf("docs/guides/operator.md").filter(({ notRun }) =>
    notRun?.detail.includes("operator/pages.test.ts"),
  );
  const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", LANG: "C.UTF-8" };
  await using terminal = new Terminal(downloads, env, PATIENCE_MS, undefined, THROUGH);
  await terminal.paste(machineIn(scratch));
  let printed = "";
  for (const block of blocks) {
    // The disk of the service is nearly full when its data leave it.
    if (block.headings.at(-1) === "Move")
      await terminal.paste("fallocate --length=230M /var/lib/other-data; df /var/lib");
    printed += await follow(terminal, block);
  }
  expect(blocks.length).toBeGreaterThan(6);
  expect(printed).toMatch(/coffer-server \d+\.\d+\.\d+ \(build [0-9a-f]+, Node v\d+/);
  expect(printed).toContain("backup: done");
  expect(printed).toMatch(/move: done: \d+ rows/);
}, 300_000);
