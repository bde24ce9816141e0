/**
 * Storage that cannot be opened, in a sentence for an operator: where, the cause, what to do. Addresses may hold passwords and are
 * not repeated.
 */
import { dirname, resolve } from "node:path";
import { type Config, type DatabaseConfig, placeOf, placeOfBlobs } from "./config.ts";
import { distrustOf, isWithoutTls } from "./drivers/distrust.ts";
import { BlobStoreFullError } from "./ports/blob-store.ts";
import { DatabaseFullError, DatabaseUnavailableError, OutdatedServerError } from "./ports/database.ts";

/** What nobody reads as a fault of the storage stays as it is. */
export function explainDatabase(error: unknown, config: DatabaseConfig): unknown {
  const isRefused = config.kind === "postgres" && codeOf(error) in ADVICE;
  const isAway = error instanceof DatabaseUnavailableError && !(error instanceof OutdatedServerError);
  if (!isRefused && !isAway && !DAMAGED.has(resultOf(error))) return error;
  const cause = causeOf(error);
  const text = `The database ${placeOf(config)} cannot be opened: ${wordsOf(cause)}. ${adviceOn(cause, config)}`;
  return new DatabaseUnavailableError(text, { cause: error, busy: isAway && error.busy });
}

export function explainDirectory(error: unknown, directory: string): Error {
  return new Error(
    `The data directory ${directory} cannot be used: ${wordsOf(error)}. Set SERVICE_DATA_DIR to a directory that this user can write to`,
    { cause: error },
  );
}

/** A part of the storage that has no room, or has it again: where it is, the setting that says so, and a sentence. */
export function explainRoom(
  part: "database" | "blobs",
  state: "full" | "back",
  config: Pick<Config, "database" | "blobs">,
): { readonly place: string; readonly setting: string; readonly message: string } {
  const { place, setting, keeps = "" } = mediumOf(part, config);
  const message =
    state === "back"
      ? `${place} (${setting}) has room again`
      : `${place} (${setting}) has no room${keeps}: writes get 507, reads and deletions go on. Free space there`;
  return { place, setting, message };
}

/** The same of a start that was refused for want of room; other errors stay as they are. */
export function explainFull(error: unknown, config: Pick<Config, "database" | "blobs">): unknown {
  if (!(error instanceof DatabaseFullError || error instanceof BlobStoreFullError)) return error;
  const part = error instanceof DatabaseFullError ? "database" : "blobs";
  return new Error(explainRoom(part, "full", config).message, { cause: error });
}

function mediumOf(
  part: "database" | "blobs",
  { database, blobs }: Pick<Config, "database" | "blobs">,
): { readonly place: string; readonly setting: string; readonly keeps?: string } {
  if (part === "database")
    return database.kind === "sqlite"
      ? { place: resolve(dirname(database.path)), setting: "SERVICE_DATA_DIR" }
      : { place: placeOf(database), setting: "SERVICE_DATABASE_URL" };
  if (blobs.kind === "s3") return { place: placeOfBlobs(blobs), setting: "SERVICE_BLOBS_URL" };
  const kept = `, but for the ${String(blobs.reserveBytes)} bytes that SERVICE_DISK_RESERVE_BYTES keeps free`;
  return { place: resolve(blobs.directory), setting: "SERVICE_DATA_DIR", keeps: blobs.reserveBytes > 0 ? kept : "" };
}

/** The innermost: a connection to a name with several addresses has one for each. */
function causeOf(error: unknown): unknown {
  if (error instanceof AggregateError) return causeOf(error.errors[0]);
  return error instanceof Error && error.cause !== undefined ? causeOf(error.cause) : error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** SQLite's primary result code; 0 for other errors. */
function resultOf(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
}

function wordsOf(error: unknown): string {
  return distrustOf(error) ?? (error instanceof Error ? error.message : String(error));
}

const NO_ACCESS = /^(?:EACCES|EPERM|EROFS|ENOENT|ENOTDIR|EISDIR)$/;
/** sqlite.org/rescode.html: SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_BUSY, SQLITE_LOCKED. */
const DAMAGED = new Set([11, 26]);
const HELD = new Set([5, 6]);

function adviceOn(cause: unknown, { kind }: DatabaseConfig): string {
  const code = codeOf(cause);
  if (kind === "postgres" && isWithoutTls(cause)) return SWITCH_ON_TLS;
  if (kind === "postgres" && /, (?:no encryption|SSL off)$/.test(wordsOf(cause))) return ASK_FOR_TLS;
  if (kind === "postgres")
    return ADVICE[code] ?? "See that PostgreSQL runs and answers there, and check SERVICE_DATABASE_URL";
  if (DAMAGED.has(resultOf(cause)))
    return "Nothing was changed: keep a copy of it and restore a backup, or check SERVICE_DATA_DIR";
  if (HELD.has(resultOf(cause))) return "Another process holds it: stop that one, or wait for it";
  if (NO_ACCESS.test(code)) return "Let this user read and write there, or check SERVICE_DATA_DIR";
  return "Let this user read and write the file and its directory, or check SERVICE_DATA_DIR";
}

const SWITCH_ON_TLS =
  "Set ssl = on and a certificate in its postgresql.conf. One on this machine can be reached by its socket instead, as ?host=/var/run/postgresql";
/** `no pg_hba.conf entry for host …, no encryption`, as where all its lines say hostssl. */
const ASK_FOR_TLS =
  "This connection has no TLS: if that PostgreSQL takes none without it, add sslmode=verify-full to SERVICE_DATABASE_URL, else check the user and its pg_hba.conf";

/** postgresql.org/docs/current/errcodes-appendix.html */
const ADVICE: Readonly<Record<string, string>> = {
  "28P01": "Check user and password in SERVICE_DATABASE_URL",
  "28000": "Check the user in SERVICE_DATABASE_URL, and pg_hba.conf of the server",
  "3D000": "Make it with createdb, or check the name in SERVICE_DATABASE_URL",
  "42501": "Give its user the right to create in the schema public",
};
