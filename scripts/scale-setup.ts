/** `npm run scale:setup`: installs what is missing to run storage beyond one machine here. It needs Debian and root. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { CEPH_PACKAGES, whyNoCeph } from "@coffer/devstack/engines";

const began = performance.now();
process.exitCode = setUp();

function setUp(): number {
  if (whyNoCeph() === null) return done("The S3 store (Ceph RGW) is installed already");
  if (!isDebian() || process.getuid?.() !== 0) {
    console.error(
      `scale:setup installs on Debian as root alone: get Ceph's ${CEPH_PACKAGES.join(", ")} (16 or newer) from your system's packages, or run this in a Debian container.`,
    );
    return 1;
  }
  const install = ["install", "--yes", "--no-install-recommends", ...CEPH_PACKAGES];
  for (const words of [["update"], install]) {
    console.error(`scale:setup runs apt-get ${words.join(" ")}`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const { status } = spawnSync("apt-get", ["-qq", ...words], { env, stdio: ["ignore", 2, 2] });
    if (status !== 0) {
      console.error(`apt-get ${words[0] ?? ""} failed with status ${String(status)}: see above, and run this again.`);
      return 1;
    }
  }
  const why = whyNoCeph();
  if (why !== null) {
    console.error(`The packages are installed, and yet: ${why}`);
    return 1;
  }
  return done(`Installed ${CEPH_PACKAGES.join(", ")} for the S3 store (Ceph RGW)`);
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
