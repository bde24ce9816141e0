/** Debian's PostgreSQL, with the programs for backups that npm's has not, and rclone for the contents. */
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { isInstalled } from "../daemons.ts";

export const BACKUP_PACKAGES = ["postgresql", "rclone"] as const;

/** The directory of the newest one's programs. */
export function findSystemPostgres(): string | null {
  const found = globSync("/usr/lib/postgresql/*/bin").filter((bin) =>
    ["postgres", "initdb", "pg_dump", "pg_restore"].every((name) => existsSync(join(bin, name))),
  );
  const versionOf = (bin: string): number => Number(bin.split("/").at(-2));
  return found.toSorted((one, other) => versionOf(other) - versionOf(one))[0] ?? null;
}

/** Why no backup can be made here, and what to do about it; null: it can. */
export function whyNoBackupTools(): string | null {
  if (findSystemPostgres() !== null && isInstalled("rclone")) return null;
  return `pg_dump, rclone: not installed; run \`npm run scale:setup\` as root on Debian, or install ${BACKUP_PACKAGES.join(", ")}`;
}
