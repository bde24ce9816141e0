/** Failures as a person and a program read them. */
import { ERRORS, isErrorCode } from "@coffer/contract/catalogue";
import { LOCAL_FAILURES, TaskFailure, toFailure, type FailureCode, type FailureDetails } from "@coffer/tasks/start";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { exitOf, nextOf, sentenceOf } from "./failure-words.ts";

/** A failure whose words a command chose: they are shown as they are. */
export class CommandFailure extends TaskFailure {
  readonly exit: ExitCode;

  constructor(code: FailureCode, details: FailureDetails & { readonly exit?: ExitCode }) {
    super(code, details);
    this.exit = details.exit ?? exitOf(code);
    this.hasOwnStep = details.nextStep !== undefined;
  }

  readonly hasOwnStep: boolean;
}

/** What the person typed cannot be meant. `message` is a sentence without its full stop. */
export const usage = (message: string, nextStep: string): CommandFailure =>
  new CommandFailure("invalid_arguments", { message, nextStep, exit: EXIT.usage });

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
  if (isPublicVault(failure)) return { ...PUBLIC_VAULT, requestId, trace };
  const isOwn = failure instanceof CommandFailure;
  const message = [
    isOwn ? failure.message : sentenceFor(failure),
    failure.detail?.visible(),
    candidates.map(({ id, name }) => `${name.visible()} (${id})`).join(", "),
    preview,
  ].filter((part) => part != null && part !== "");
  return {
    ...{ code, message: message.join(": "), retryable, requestId, trace },
    nextStep: isOwn && failure.hasOwnStep ? failure.nextStep : nextOf(code, group),
    exit: isOwn ? failure.exit : exitOf(code),
  };
}

const INTERRUPTED = {
  ...{ code: "cancelled", message: "Interrupted", nextStep: "run the same command again: what is done stays done" },
  ...{ retryable: true, requestId: null, exit: EXIT.interrupted },
};

const TIMED_OUT = {
  ...{ code: "timeout", message: "The time of --timeout is over", nextStep: "run it again with a longer --timeout" },
  ...{ retryable: true, requestId: null, exit: EXIT.temporary },
};

/** The service's own code of this name, which is not about the configuration of this machine. */
const isNotSetUp = ({ code, cause }: TaskFailure): boolean =>
  code === "not_configured" &&
  cause instanceof Error &&
  "status" in cause &&
  cause.status === ERRORS.not_configured.status;

/** The SDK calls it `shared_vault` too: the call is for shared vaults, and this one is public. */
const isPublicVault = ({ code, cause }: TaskFailure): boolean =>
  code === "shared_vault" && cause instanceof Error && cause.message.startsWith("This is a public vault");

const PUBLIC_VAULT = {
  ...{ code: "public_vault", message: ERRORS.public_vault.message, nextStep: nextOf("public_vault") },
  ...{ retryable: false, exit: exitOf("public_vault") },
};

const NOT_SET_UP = {
  ...{ code: "not_configured", message: ERRORS.not_configured.message, retryable: false, exit: EXIT.failed },
  nextStep: "use another way, or ask the operator to set it up",
};

/** The sentence of a task where it says more than the catalogue; else ours. */
function sentenceFor({ code, message, cause }: TaskFailure): string {
  if (code === "signed_out" && cause instanceof Error) return "The service did not accept your key or session";
  const known = isErrorCode(code) ? ERRORS[code].message : LOCAL_FAILURES[code].message;
  return message === known || code === "signed_out" ? (sentenceOf(code) ?? message) : message;
}

function traceOf(thrown: unknown): string {
  const parts: string[] = [];
  for (let each = thrown; each !== undefined && each !== null && parts.length < 8; each = causeOf(each))
    parts.push(each instanceof Error ? (each.stack ?? `${each.name}: ${each.message}`) : typeof each);
  return parts.join("\ncaused by: ");
}

const causeOf = (thrown: unknown): unknown => (thrown instanceof Error ? thrown.cause : undefined);
