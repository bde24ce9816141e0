/** Failures as a person and a program read them. */
import { basename } from "node:path";
import type { ContractError, SdkError } from "@coffer/sdk";
import type { ProfileMissingError } from "@coffer/sdk/node";
import { ERRORS, isErrorCode, keyRefusalOf, type KeyRefusal } from "@coffer/contract";
import {
  LOCAL_FAILURES,
  TaskFailure,
  toFailure,
  untrusted,
  type FailureCode,
  type FailureDetails,
} from "@coffer/tasks/start";
import { exitOfFailure, type ExitCode } from "./exit-codes.ts";
import { exitOfCode, nextStepOf, sentenceOf } from "./failure-texts.ts";
import { shellWord } from "./shell-word.ts";
import type { Paint } from "./terminal/paint.ts";

/** A failure whose words a command chose: they are shown as they are. */
export class CommandFailure extends TaskFailure {
  readonly exit: ExitCode;

  /** `isUsage`: the line asks for what cannot be, whatever the code says of other lines. */
  constructor(code: FailureCode, details: FailureDetails & { readonly isUsage?: boolean }) {
    super(code, details);
    this.exit = exitOfCode(code, { isUsage: details.isUsage });
    this.hasOwnStep = details.nextStep !== undefined;
  }

  readonly hasOwnStep: boolean;
}

/** What the person typed cannot be meant. `message` is a sentence without its full stop. */
export const usage = (message: string, nextStep: string): CommandFailure =>
  new CommandFailure("invalid_arguments", { message, nextStep });

/** The command ran, and its result got nowhere. */
export const resultLost = (cause: unknown): CommandFailure =>
  new CommandFailure("local_io", {
    message: "Standard output did not take the result",
    nextStep: "what the command did stays done: send its output elsewhere, and list what there is now",
    cause,
  });

/** What is printed of a failure. */
export interface FailureReport {
  readonly code: string;
  readonly message: string;
  readonly nextStep: string;
  readonly retryable: boolean;
  readonly requestId: string | null;
  readonly exit: ExitCode;
  /** For `--verbose`. */
  readonly trace: string;
}

/** The two lines for people. */
export const failureText = ({ message, nextStep }: FailureReport, paint: Paint): string =>
  `${paint("red", "error:")} ${sentence(message)}\n${paint("bold", "next:")} ${nextStep}\n`;

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

export interface Circumstances {
  readonly interrupted: AbortSignal;
  /** Aborts when `--timeout` is over. */
  readonly timedOut: AbortSignal;
  /** The first word of the command. */
  readonly group?: string | undefined;
}

export function reportOf(thrown: unknown, { interrupted, timedOut, group }: Circumstances): FailureReport {
  const trace = traceOf(thrown);
  if (interrupted.aborted) return { ...INTERRUPTED, trace };
  if (timedOut.aborted) return { ...TIMED_OUT, trace };
  const failure = toFailure(thrown);
  const { code, retryable, requestId, candidates, preview } = failure;
  if (isNotSetUp(failure)) return { ...NOT_SET_UP, requestId, trace };
  const { profile, issues } = causeOfSdk(failure);
  if (profile !== undefined) return { ...noProfile(untrusted(profile).visible()), requestId, trace };
  const isOwn = failure instanceof CommandFailure;
  const message = [
    isOwn ? failure.message : sentenceFor(failure),
    code === "shared_vault" ? null : (fieldsOf(issues) ?? failure.detail?.visible()),
    FILE_CODES.has(code) ? systemWords(thrown) : null,
    candidates.map(({ id, name }) => `${name.visible()} (${id})`).join(", "),
    preview,
  ].filter((part) => part != null && part !== "");
  const nextStep =
    isOwn && failure.hasOwnStep ? failure.nextStep : isDiskFull(thrown) ? MAKE_ROOM : nextFor(failure, group);
  return {
    code,
    message: message.join(": "),
    retryable,
    requestId,
    trace,
    nextStep: group === "doctor" && nextStep.includes("coffer doctor") ? OF_DOCTOR : nextStep,
    exit: isOwn ? failure.exit : exitOfCode(code, { retryable }),
  };
}

/** It cannot send its reader to itself. */
const OF_DOCTOR = "correct what the message names; if that is right, tell the operator what --verbose shows";

type OfSdk = Partial<Pick<SdkError, "code"> & Pick<ProfileMissingError, "profile"> & Pick<ContractError, "issues">>;

/** What the SDK's error says beside its sentence. It is known by its fields: the SDK is loaded late. */
const causeOfSdk = ({ cause }: TaskFailure): OfSdk =>
  cause instanceof Error && "nextStep" in cause ? (cause as OfSdk) : {};

/** Whether the keys cannot be read because the system's keychain does not open. */
export const isKeychainClosed = (thrown: unknown): boolean =>
  causeOfSdk(toFailure(thrown)).code === "keychain_unusable";

/** Fields of a refused input: those of its body by their own name. */
const fieldsOf = (issues: readonly string[] | undefined): string | null =>
  issues === undefined ? null : untrusted(issues.map((each) => each.replace(SECTION, "")).join("; ")).visible();

/** The part of the request, before the name of what was wrong. */
const SECTION = /^(?:body|query|params|headers)\./;

const noProfile = (name: string): Omit<FailureReport, "requestId" | "trace"> => ({
  code: "not_configured",
  message: `There is no profile ${name}`,
  retryable: false,
  // No profile has a name that begins with a dash.
  nextStep: name.startsWith("-")
    ? "coffer profiles list"
    : `coffer profiles list, or coffer login --profile ${shellWord(name)}`,
  exit: exitOfCode("not_configured"),
});

/** Failures of this machine's files. */
const FILE_CODES = new Set<string>(["local_io", "file_not_found", "not_a_file", "name_too_long"]);

const MAKE_ROOM = "make room on that disk, then run the same command again";

const isDiskFull = (thrown: unknown): boolean => {
  const code = systemErrorOf(thrown)?.code;
  return code === "ENOSPC" || code === "EDQUOT";
};

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOSPC: "no space is left",
  EDQUOT: "no space is left for you",
  EROFS: "nothing can be written there",
  EBUSY: "something else uses it",
  EMFILE: "too many files are open",
};

/** What the system said, and of which path. */
function systemWords(thrown: unknown): string | null {
  const systemError = systemErrorOf(thrown);
  if (systemError === null) return null;
  const { code, path = "" } = systemError;
  // A file in an open folder has a path of the process alone, and an unfinished one no name of its own.
  const name = path.startsWith("/proc/") ? basename(path) : path;
  const parts = [REASONS[code ?? ""] ?? "", name.startsWith(".coffer-") ? "" : untrusted(name).visible()];
  return parts.filter((part) => part !== "").join(": ");
}

function systemErrorOf(thrown: unknown): NodeJS.ErrnoException | null {
  for (const each of causesOf(thrown))
    if (each instanceof Error && "syscall" in each) return each as NodeJS.ErrnoException;
  return null;
}

const INTERRUPTED = {
  code: "cancelled",
  message: "Interrupted",
  nextStep: "run the same command again: what is done stays done",
  retryable: true,
  requestId: null,
  exit: exitOfFailure({ code: "cancelled", status: null, retryable: true }),
};

const TIMED_OUT = {
  code: "timeout",
  message: "The time of --timeout is over",
  nextStep: "run it again with a longer --timeout",
  retryable: true,
  requestId: null,
  exit: exitOfFailure({ code: "timeout", status: null, retryable: true }),
};

/** The service's own code of this name, which is not about the configuration of this machine. */
const isNotSetUp = ({ code, cause }: TaskFailure): boolean =>
  code === "not_configured" &&
  cause instanceof Error &&
  "status" in cause &&
  cause.status === ERRORS.not_configured.status;

const NOT_SET_UP = {
  code: "not_configured",
  message: ERRORS.not_configured.message,
  retryable: false,
  exit: exitOfFailure({ code: "not_configured", status: ERRORS.not_configured.status, retryable: false }),
  nextStep: "use another way, or ask the operator to set it up",
};

/** The sentence of a task where it says more than the catalogue; else ours. */
function sentenceFor({ about, code, message, cause }: TaskFailure): string {
  if (code === "signed_out" && cause instanceof Error)
    return keyRefusalOf(message) === null ? "The service did not accept your key or session" : message;
  const catalogueMessage = isErrorCode(code) ? ERRORS[code].message : LOCAL_FAILURES[code].message;
  if (message === catalogueMessage || code === "signed_out") return sentenceOf(code) ?? message;
  return FLAGS[about ?? ""] ?? message;
}

/** Where tasks name the arguments of tools. */
const FLAGS: Readonly<Record<string, string>> = {
  ifExists: "--if-exists rename is for single files, not for folders",
  name: "--name is for a single file",
};

/** What is not there is in the list of its own kind, whatever the command. */
const GROUPS: Readonly<Record<string, string>> = { vault: "", key: "agents" };

function nextFor(failure: TaskFailure, group: string | undefined): string {
  const { about, cause, code } = failure;
  if (code === "unreachable" && failure.nextStep !== LOCAL_FAILURES.unreachable.nextStep)
    return asNext(failure.nextStep);
  const refusal = code === "signed_out" ? keyRefusalOf(failure.message) : null;
  if (refusal !== null) return KEY_STEPS[refusal];
  const next = nextStepOf(code, GROUPS[about ?? ""] ?? group);
  if (isKeychainClosed(failure))
    return `${next}. Where the keychain is gone for good: coffer config set key-store file --lost-keys`;
  return code === "signed_out" && !(cause instanceof Error) ? `${next}, or coffer signup for a new account` : next;
}

const NEW_KEY =
  "ask the account's owner for a new invite, then coffer logout and the line of that invite; or for a new key, then coffer logout and coffer login --api-key-stdin, or set SERVICE_API_KEY to it";

const KEY_STEPS: Readonly<Record<KeyRefusal, string>> = {
  revoked: NEW_KEY,
  expired: NEW_KEY,
  mistyped: "copy the whole key again: coffer login --api-key-stdin, or SERVICE_API_KEY",
};

/** A step of the SDK as a line after `next:`. */
const asNext = (sentence: string): string =>
  `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, "");

function traceOf(thrown: unknown): string {
  return causesOf(thrown)
    .map((each) => (each instanceof Error ? (each.stack ?? `${each.name}: ${each.message}`) : typeof each))
    .join("\ncaused by: ");
}

function causesOf(thrown: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let each = thrown; each !== undefined && each !== null && causes.length < 8; each = causeOf(each))
    causes.push(each);
  return causes;
}

const causeOf = (thrown: unknown): unknown => (thrown instanceof Error ? thrown.cause : undefined);
