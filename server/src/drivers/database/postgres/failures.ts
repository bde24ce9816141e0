/** Errors of PostgreSQL and of connections to it, in the port's words. Codes: postgresql.org/docs/current/errcodes-appendix.html */
import { DatabaseError } from "pg";
import { distrustOf } from "../../distrust.ts";
import { ConstraintError, DatabaseFullError, DatabaseUnavailableError } from "../../../ports/database.ts";

const UNIQUE_VIOLATION = "23505";
const CHECK_VIOLATION = "23514";
const FOREIGN_KEY_VIOLATION = "23503";
const SERIALIZATION_FAILURE = "40001";
const DEADLOCK_DETECTED = "40P01";
const DISK_FULL = "53100";

/** Too many connections, no memory; it took too long, or waited too long for a lock: all of it passes. */
const BUSY: ReadonlySet<string> = new Set(["53000", "53200", "53300", "53400", "57014", "55P03", "25P03"]);
/** Classes: connection exceptions, operator intervention (a stop, a fail-over), system errors. */
const AWAY = /^(?:08|57P|58)/;
/** data_corrupted, index_corrupted: a page or an index is not what was written. */
const DAMAGED: ReadonlySet<string> = new Set(["XX001", "XX002"]);
/** A standby that nobody has promoted yet takes no writes. */
const READ_ONLY = "25006";

/** Two transactions met: the one that was refused may run again from its beginning. */
export function metAnother(failure: unknown): boolean {
  const error = failure instanceof DatabaseUnavailableError ? failure.cause : failure;
  return error instanceof DatabaseError && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK_DETECTED);
}

/** An answer of a server that goes on; everything else leaves the connection in an unknown state. */
export function isAnswer(error: unknown): boolean {
  return error instanceof DatabaseError && !AWAY.test(error.code ?? "") && error.severity !== "FATAL";
}

/** The connection had ended before, so the statement did not reach the server. */
export function wasNeverSent(failure: unknown): boolean {
  const error = failure instanceof DatabaseUnavailableError ? failure.cause : failure;
  return error instanceof Error && /^Client (?:has encountered a connection error|was closed)/.test(error.message);
}

/** What it names is in its message: the relation's file, or the index. */
export function isDamage(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && DAMAGED.has(error.code ?? "");
}

export function translated(failure: unknown): Error {
  const error = failure instanceof Error ? failure : new Error(String(failure));
  if (isPortError(error)) return error;
  if (!(error instanceof DatabaseError)) return isConnectionFailure(error) ? away(error) : error;
  const { code = "", message } = error;
  switch (code) {
    case UNIQUE_VIOLATION:
      return new ConstraintError(message, { kind: "unique", constraint: error.constraint ?? null, cause: error });
    case CHECK_VIOLATION:
      return new ConstraintError(message, { kind: "check", cause: error });
    case FOREIGN_KEY_VIOLATION:
      return new ConstraintError(message, { kind: "reference", cause: error });
    case DISK_FULL:
      return new DatabaseFullError("The disk of the database is full", { cause: error });
    case SERIALIZATION_FAILURE:
    case DEADLOCK_DETECTED:
      return new DatabaseUnavailableError("Others kept changing the same rows", { cause: error, busy: true });
  }
  if (BUSY.has(code)) return new DatabaseUnavailableError("The database is busy", { cause: error, busy: true });
  if (isDamage(error))
    return new DatabaseUnavailableError("The database is damaged where this reads", { cause: error });
  return AWAY.test(code) || code === READ_ONLY ? away(error) : error;
}

function isPortError(error: unknown): boolean {
  return (
    error instanceof ConstraintError || error instanceof DatabaseFullError || error instanceof DatabaseUnavailableError
  );
}

function away(cause: unknown): DatabaseUnavailableError {
  const why = distrustOf(cause) ?? unreadFile(cause);
  return new DatabaseUnavailableError(`The database cannot be reached${why === null ? "" : `: ${why}`}`, { cause });
}

/** A file that its address names, such as sslrootcert. */
function unreadFile(error: unknown): string | null {
  return error instanceof Error && "syscall" in error && error.syscall === "open" ? error.message : null;
}

/** What pg says without a code, when a connection ends or none can be had. */
const WITHOUT_CODE =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout)/;
const SYSTEM = /^E(?:CONN|PIPE|NOENT|TIMEDOUT|HOST|NET|AI_AGAIN|ACCES|PROTO)|^ENOTFOUND$/;

function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  if (distrustOf(error) !== null) return true;
  return SYSTEM.test(code) || WITHOUT_CODE.test(error.message);
}
