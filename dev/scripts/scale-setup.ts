/** `npm run scale:setup`: installs what is missing to run storage beyond one machine here. It needs Debian and root. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { CEPH_PACKAGES, POOLER_PACKAGE, whyNoCeph, whyNoPooler } from "@coffer/devstack/engines";

const began = performance.now();
process.exitCode = setUp();

function setUp(): number {
  const packages = [
    ...(whyNoCeph() === null ? [] : CEPH_PACKAGES),
    ...(whyNoPooler() === null ? [] : [POOLER_PACKAGE]),
  ];
  if (packages.length === 0) return done("Everything is installed already: Ceph RGW and PgBouncer");
  if (!isDebian() || process.getuid?.() !== 0) {
    console.error(
      `scale:setup installs on Debian as root alone: get ${packages.join(", ")} (Ceph from 16 on) from your system's packages, or run this in a Debian container.`,
    );
    return 1;
  }
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  for (const words of [["update"], install]) {
    console.error(`scale:setup runs apt-get ${words.join(" ")}`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const { status } = spawnSync("apt-get", ["-qq", ...words], { env, stdio: ["ignore", 2, 2] });
    if (status !== 0) {
      console.error(`apt-get ${words[0] ?? ""} failed with status ${String(status)}: see above, and run this again.`);
      return 1;
    }
  }
  const why = whyNoCeph() ?? whyNoPooler();
  if (why !== null) {
    console.error(`The packages are installed, and yet: ${why}`);
    return 1;
  }
  return done(`Installed ${packages.join(", ")}`);
}

function done(what: string): number {
  console.error(`${what}. scale:setup took ${((performance.now() - began) / 1000).toFixed(0)} s.`);
  return 0;
}

function isDebian(): boolean {
  try {
    return /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));
  } catch {
    return false;
  }
}
