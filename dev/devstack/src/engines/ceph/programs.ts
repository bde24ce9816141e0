/** The programs of a small Ceph: whether they are there, and running one to its end. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isInstalled } from "../daemons.ts";

/** Debian's packages, and what of them is run. */
export const CEPH_PACKAGES = ["radosgw", "ceph-mon", "ceph-osd", "ceph-common", "openssl"] as const;
const PROGRAMS = [
  "radosgw",
  "radosgw-admin",
  "ceph-mon",
  "ceph-osd",
  "ceph",
  "ceph-authtool",
  "monmaptool",
  "openssl",
] as const;

/** Why a Ceph cannot be started here, and what to do about it; null: it can. */
export function whyNoCeph(): string | null {
  const missing = PROGRAMS.filter((name) => !isInstalled(name));
  if (missing.length === 0) return null;
  return `${missing.join(", ")}: not installed; run \`npm run scale:setup\` as root on Debian, or install ${CEPH_PACKAGES.join(", ")}`;
}

const execute = promisify(execFile);

/** Runs one to its end; what it printed. Rejects with what it said when it fails. */
export async function runProgram(program: string, words: readonly string[]): Promise<string> {
  return (await execute(program, [...words], { timeout: 60_000 })).stdout;
}
