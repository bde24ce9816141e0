/**
 * The exit codes: what each means, and which failure, result, signal or program gives it. Every other module asks here, so that one page
 * answers the question. It imports no catalogue, because `--help` has to start quickly: what a catalogue says of a code is passed in. Only
 * `main.ts` decides alone: a Node that is too old to load this module ends with `failed`.
 */
import type { FailureCode } from "@coffer/tasks/start";

/** A script may rely on them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  signIn: 4,
  someFailed: 5,
  forbidden: 6,
  conflict: 7,
  temporary: 8,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "Done",
  failed: "Failed",
  usage: "Wrong usage, or a question that nobody was there to answer",
  notFound: "Not found",
  signIn: "Sign-in needed, or refused",
  someFailed: "Some items failed, the others are done",
  forbidden: "Not allowed",
  conflict: "Conflict with what is there",
  temporary: "Temporary: a repeat can help",
  interrupted: "Interrupted",
};

/** `--timeout` is over: a code of the command line alone. */
type OwnCode = "timeout";

/** What decides about a failure. */
export interface FailureFacts {
  readonly code: FailureCode | OwnCode;
  /** The status that the service's catalogue gives the code. null: the failure is of this machine. */
  readonly status: number | null;
  /** Whether a repeat of this very failure can help. */
  readonly retryable: boolean;
  /** The line asks for what cannot be, whatever the code says of other lines. */
  readonly isUsage?: boolean;
}

/** Codes whose exit code does not follow from their status. */
const BY_CODE: Readonly<Partial<Record<FailureCode | OwnCode, ExitCode>>> = {
  validation_failed: EXIT.usage,
  invite_ended: EXIT.notFound,
  upload_expired: EXIT.notFound,
  cursor_expired: EXIT.notFound,
  signed_out: EXIT.signIn,
  sign_in_ended: EXIT.signIn,
  shared_vault: EXIT.signIn,
  invalid_arguments: EXIT.usage,
  address_invalid: EXIT.usage,
  end_invalid: EXIT.usage,
  ambiguous: EXIT.usage,
  vault_required: EXIT.usage,
  confirmation_required: EXIT.usage,
  file_not_found: EXIT.notFound,
  vault_not_found: EXIT.notFound,
  transfer_unknown: EXIT.notFound,
  path_not_allowed: EXIT.forbidden,
  secret_in_file: EXIT.forbidden,
  config_file: EXIT.forbidden,
  reveal_refused: EXIT.forbidden,
  remote_server: EXIT.forbidden,
  not_owner: EXIT.forbidden,
  membership_ended: EXIT.forbidden,
  scope_too_wide: EXIT.forbidden,
  scope_owner_only: EXIT.forbidden,
  destination_exists: EXIT.conflict,
  too_many_deletions: EXIT.conflict,
  edit_refused: EXIT.conflict,
  already_member: EXIT.conflict,
  is_owner: EXIT.conflict,
  not_offered: EXIT.conflict,
  // A repeat may help, but what happened is no passing trouble.
  integrity_failed: EXIT.failed,
  local_io: EXIT.failed,
  cancelled: EXIT.interrupted,
  timeout: EXIT.temporary,
};

const BY_STATUS: Readonly<Record<number, ExitCode>> = {
  401: EXIT.signIn,
  403: EXIT.forbidden,
  404: EXIT.notFound,
  409: EXIT.conflict,
  412: EXIT.conflict,
  // A budget that renews so late that waiting is no plan.
  429: EXIT.forbidden,
};

export function exitOfFailure({ code, status, retryable, isUsage = false }: FailureFacts): ExitCode {
  if (isUsage) return EXIT.usage;
  // Of this machine's configuration the reader corrects a value. What the operator did not set up, no other line reaches.
  if (code === "not_configured") return status === null ? EXIT.usage : EXIT.failed;
  const own = BY_CODE[code];
  if (own !== undefined) return own;
  if (retryable) return EXIT.temporary;
  return (status === null ? undefined : BY_STATUS[status]) ?? EXIT.failed;
}

/** A fact of an item with a code that no catalogue of this version has. */
export const EXIT_OF_UNKNOWN_CODE: ExitCode = EXIT.failed;

/** An act on several things, each with an outcome of its own: what went well stays done. */
export const exitOfActs = (failures: number): ExitCode => (failures > 0 ? EXIT.someFailed : EXIT.done);

/** Changes of settings: none of them is done where all have failed. */
export const exitOfHostChanges = (failures: number, hosts: number): ExitCode =>
  failures > 0 && failures === hosts ? EXIT.failed : exitOfActs(failures);

/** Not everything was looked at: a vault does not open, or the time was not enough. */
export const exitOfSearch = (isComplete: boolean): ExitCode => (isComplete ? EXIT.done : EXIT.someFailed);

/** A list of items of which some are closed to this reader. Where all are, the reason decides: null without any. */
export const exitOfClosedItems = (closed: number, items: number, ofReason: ExitCode | null): ExitCode =>
  ofReason !== null && closed === items ? ofReason : exitOfActs(closed);

/** A question about something, such as whether a file is intact: a no is a failure, for scripts that ask. */
export const exitOfVerdict = (holds: boolean): ExitCode => (holds ? EXIT.done : EXIT.failed);

/** A command that follows events until it has enough of them, or until Ctrl-C, which is then the usual end and yet says that it came. */
export const exitOfFollowing = (interrupted: AbortSignal): ExitCode =>
  interrupted.aborted ? EXIT.interrupted : EXIT.done;

/**
 * Standard output takes no more. A reader that has gone has what it wanted, as that of `coffer ls | head` does. null: the system refuses
 * it, which is a failure with a code of its own.
 */
export function exitOfLostOutput(interrupted: AbortSignal, hasReaderGone: boolean): ExitCode | null {
  if (interrupted.aborted) return EXIT.interrupted;
  return hasReaderGone ? EXIT.done : null;
}

/** A program that ran in this one's place, such as the tool server: its codes have the same meanings, and others are none of ours. */
export const exitOfProgram = (code: number): ExitCode =>
  Object.values(EXIT).find((each) => each === code) ?? EXIT.failed;

/** The same from what the system says of its end. Ctrl-C reaches it, too. */
export const exitOfProcess = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? (signal === "SIGINT" ? EXIT.interrupted : EXIT.failed);
