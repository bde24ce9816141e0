/**
 * docs/guides/upgrades.md as it is printed, by root on a machine of its own: namespaces of mounts and of the network. The archive of
 * `npm run release:server` is the old release, and stands for two new ones: the same under another name, and one with a further step of the schema.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { MIGRATIONS } from "@coffer/server/schema/migrate";
import { expect, it } from "vitest";
import { blocksOf, ROOT } from "../../dev/scripts/pages/documents.ts";
import { productionSecrets } from "../journeys/kit/production.ts";
import { makeDirectory } from "../kit/directory.ts";

const NEWEST = MIGRATIONS.at(-1)?.version ?? 0;
const NAMESPACES = ["--mount", "--net", "--fork", "--kill-child", "--pid", "--mount-proc"];

/** What systemd would do: the unit's ExecStart as its user, with its environment, and then that of its file. */
const SYSTEMCTL = `#!/bin/bash
unit=/opt/coffer/deploy/coffer-server.service
of() { sed -n "s/^$1=//p" "$unit"; }
[ "$2" = coffer-server ] || exit 5
if [ "$1" != start ] && [ -f /run/machine/pid ]; then
  pid=$(cat /run/machine/pid)
  kill -TERM "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
fi
if [ "$1" != stop ]; then
  mapfile -t settings < <(grep -E '^[A-Z_]+=' "$(of EnvironmentFile)")
  cd "$(of WorkingDirectory)"
  # shellcheck disable=SC2046
  setpriv --reuid="$(of User)" --regid="$(of Group)" --init-groups env -i PATH=/usr/bin:/bin $(of Environment) "\${settings[@]}" "$(of ExecStart)" </dev/null >>/run/machine/log 2>&1 &
  echo $! >/run/machine/pid
fi
`;

/** Directories that belong to the machine alone. What it finds under /etc is a copy. */
const MACHINE = `set -euo pipefail
export PATH=/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin HOME=/root
ip link set lo up
for directory in /opt /var /run /usr/local/bin /root; do mount -t tmpfs tmpfs "$directory"; done
mkdir /run/machine /run/machine/etc /run/machine/work /var/lib /var/tmp /var/backups
chmod 1777 /var/tmp
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/machine/etc,workdir=/run/machine/work /etc
install --mode=0755 "$GIVEN/systemctl" /usr/local/bin/systemctl
tar --extract --gzip --file "$GIVEN"/old/coffer-server-*.tar.gz --directory /opt --no-same-owner
ln --symbolic /opt/coffer-server-* /opt/coffer
ln --symbolic /opt/coffer/bin/coffer-server /usr/local/bin/coffer-server
useradd --system --user-group --no-create-home --shell /usr/sbin/nologin coffer
install -D --mode=0640 --group=coffer "$GIVEN/server.env" /etc/coffer/server.env
install --directory --owner=coffer --group=coffer --mode=0700 /var/lib/coffer-server
install --directory --owner=coffer --mode=0700 /var/backups/coffer
at() { echo "== $1"; }
running() { readlink "/proc/$(cat /run/machine/pid)/exe"; }
codes() { runuser -u coffer -- coffer-server --env-file /etc/coffer/server.env access-codes list; }
systemctl start coffer-server
curl --fail --silent --show-error --retry 30 --retry-delay 1 --retry-connrefused http://127.0.0.1:8787/readyz
runuser -u coffer -- coffer-server --env-file /etc/coffer/server.env access-codes create --note before
`;

const blocks = blocksOf("docs/guides/upgrades.md");

/** The page's blocks under a heading, in order. */
function under(heading: string): string[] {
  const found = blocks.filter(({ headings }) => headings.at(-1) === heading).map(({ code }) => code);
  if (found.length === 0) throw new Error(`The page has no block under ${heading}`);
  return found;
}

const one = (heading: string): string => under(heading).join("\n");

/** A block that serves until it is interrupted. */
function trying(): string {
  return `${one("Try it side by side").trimEnd()} >/run/machine/trial 2>&1 &
trial=$!
for _ in $(seq 300); do grep --quiet --no-messages 'tries out the backup on' /run/machine/trial && break; sleep 0.1; done
curl --fail --silent --show-error "$(grep --only-matching 'http://[0-9.:]*' /run/machine/trial)/healthz"
pkill -INT -u coffer -f -- --trial
wait "$trial"
cat /run/machine/trial
rm --recursive /var/tmp/coffer-trial /run/machine/trial
`;
}

interface Given {
  readonly directory: string;
  readonly names: Readonly<Record<"old" | "same" | "newer", string>>;
}

function give(): Given {
  const directory = makeDirectory();
  mkdirSync(path.join(directory, "old"));
  const script = path.join(ROOT, "dev/scripts/release-server.ts");
  const archive = execFileSync(process.execPath, [script, "--to", path.join(directory, "old")], {
    encoding: "utf8",
  }).trim();
  const old = path.basename(archive, ".tar.gz");
  const same = release(directory, "same", { archive, change: (text) => text });
  const newer = release(directory, "newer", {
    archive,
    change(text) {
      const step = `{ version: ${String(NEWEST + 1)}, name: "of a later release", up: () => Promise.resolve() }`;
      const changed = text.replace(/^var MIGRATIONS = \[baseline\];$/m, `var MIGRATIONS = [baseline, ${step}];`);
      if (changed === text) throw new Error("The program does not list its migrations as it did");
      return changed;
    },
  });
  writeFileSync(path.join(directory, "systemctl"), SYSTEMCTL);
  const filled = { ...productionSecrets(), SERVICE_PUBLIC_URL: "https://coffer.example.com" };
  const example = readFileSync(path.join(ROOT, "deploy/server.env.example"), "utf8");
  const kept = example.split("\n").filter((line) => !Object.keys(filled).some((name) => line.startsWith(`${name}=`)));
  const lines = Object.entries(filled).map(([name, value]) => `${name}=${value}`);
  writeFileSync(path.join(directory, "server.env"), [...kept, ...lines, ""].join("\n"));
  return { directory, names: { old, same, newer } };
}

/** The archive under another name, with its program changed, and the sum beside it. Its name. */
function release(
  directory: string,
  as: "same" | "newer",
  { archive, change }: { readonly archive: string; readonly change: (text: string) => string },
): string {
  const own = path.join(directory, as);
  mkdirSync(own);
  const before = path.basename(archive, ".tar.gz");
  const name = before.replace(/^coffer-server-[\d.]+-/, `coffer-server-0.1.1-${as}-`);
  execFileSync("tar", ["-xzf", archive, "-C", own]);
  renameSync(path.join(own, before), path.join(own, name));
  const main = path.join(own, name, "lib/main.js");
  writeFileSync(main, change(readFileSync(main, "utf8")));
  execFileSync("tar", ["--use-compress-program=gzip -1", "-cf", `${name}.tar.gz`, name], { cwd: own });
  const sum = createHash("sha256")
    .update(readFileSync(path.join(own, `${name}.tar.gz`)))
    .digest("hex");
  writeFileSync(path.join(own, "SHA256SUMS"), `${sum}  ${name}.tar.gz\n`);
  return name;
}

function whyNot(): string | null {
  const { status, stderr } = spawnSync("unshare", [...NAMESPACES, "ip", "link", "set", "lo", "up"], {
    encoding: "utf8",
  });
  return status === 0
    ? null
    : `no machine of its own can be made here (unshare, ip: ${stderr?.trim() ?? "not installed"})`;
}

it("the page of upgrades holds for a release with the same schema and for a newer one, and leads back [issue 51]", (context) => {
  const why = whyNot();
  if (why !== null) context.skip(why);
  if (process.env["COFFER_TEST_COUNTS"] !== "full")
    context.skip("makes three archives: runs in the full counts (npm run test:nightly)");
  const { directory, names } = give();
  const [backFromSame = "", backFromNewer = ""] = under("Back to the old release");
  const script = path.join(directory, "story");
  writeFileSync(
    script,
    `${MACHINE}
cd "$GIVEN/same"
${one("Unpack it, and back up")}
at "same: trial"; ${trying()}
at "same: running"; ${one("Same schema, or beside each other")}
running
at "same: back"; ${backFromSame}
running
mv /var/backups/coffer/before /var/backups/coffer/earlier
cd "$GIVEN/newer"
${one("Unpack it, and back up")}
at "newer: trial"; ${trying()}
runuser -u coffer -- "$new/bin/coffer-server" --env-file /etc/coffer/server.env audit verify || echo "verify $?"
codes
at "newer: running"; ${one("New schema, stop first")}
running
runuser -u coffer -- coffer-server --env-file /etc/coffer/server.env access-codes create --note after
at "newer: old one"
systemctl stop coffer-server
SERVICE_PORT=0 runuser -u coffer -- "$old/bin/coffer-server" --env-file /etc/coffer/server.env || echo "status $?"
systemctl start coffer-server
at "newer: back"; ${backFromNewer}
running
codes
at "log"; cat /run/machine/log
systemctl stop coffer-server
`,
  );
  chmodSync(script, 0o755);
  const env = { PATH: process.env["PATH"], GIVEN: directory };
  const { status, stdout, stderr } = spawnSync(
    "unshare",
    [...NAMESPACES, "bash", "--norc", "-c", `exec bash "$GIVEN/story" 2>&1`],
    {
      env,
      cwd: "/",
      encoding: "utf8",
    },
  );
  expect([status, stderr], stdout).toEqual([0, ""]);
  const said = Object.fromEntries(
    stdout
      .split(/^== /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf("\n")), part]),
  );
  const change = `coffer.sqlite has schema ${String(NEWEST + 1)} now: of a later release`;
  expect(said["same: trial"]).toContain("done: ");
  expect(said["same: trial"]).not.toContain(change);
  expect(said["same: running"]).toContain(`/opt/${names.same}/bin/node`);
  expect(said["same: back"]).toContain(`/opt/${names.old}/bin/node`);
  expect(said["newer: trial"]).toContain(change);
  // Neither the trial nor a check changed anything of the running service: the old release's command still reads it.
  expect(said["newer: trial"]).toMatch(/ before$/m);
  expect(said["newer: running"]).toContain(`/opt/${names.newer}/bin/node`);
  expect(said["newer: old one"]).toContain(`The database has schema ${String(NEWEST + 1)}`);
  expect(said["newer: old one"]).toContain("status 76");
  expect(said["newer: back"]).toContain(`/opt/${names.old}/bin/node`);
  expect(said["newer: back"]).toMatch(/ before$/m);
  expect(said["newer: back"]).not.toMatch(/ after$/m);
  const steps = (said["log"] ?? "").split("\n").filter((line) => line.includes('"event":"migration"'));
  const taken = steps.map((line) => {
    const { schema, name, milliseconds } = JSON.parse(line) as Record<string, unknown>;
    return [schema, name, typeof milliseconds];
  });
  expect(taken).toEqual([
    [NEWEST, "baseline", "number"],
    [NEWEST + 1, "of a later release", "number"],
  ]);
}, 300_000);
