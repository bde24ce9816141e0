/**
 * A tool's answer when it fails: a code for programs, a sentence, the next step, and whether the same call may succeed
 * later. Every failure of a tool becomes one of these; nothing else reaches the model.
 */
import { ERRORS, isErrorCode, KEY_REFUSALS, keyRefusalOf, type ErrorCode, type KeyRefusal } from "@coffer/contract";
import { failureText, VAULT_FAILURES, type FailureText } from "./vault-failures.ts";
import { untrusted, type Untrusted } from "./untrusted.ts";

/** Failures that arise on this side of the wire. The service's own codes are in the contract's catalogue. */
export const LOCAL_FAILURES = {
  ...VAULT_FAILURES,
  signed_out: failureText(
    false,
    "This server has no working credential",
    "Ask the user to set SERVICE_API_KEY in this server's environment, or to put a key into the config file that status_check names. Never ask for a key in the conversation.",
  ),
  invalid_arguments: failureText(
    false,
    "The arguments are not valid",
    "Correct the argument that the message names and call again.",
  ),
  ambiguous: failureText(
    false,
    "Several match, and none was chosen",
    "Call again with the id of one of the candidates.",
  ),
  not_text: failureText(false, "The file is no text in UTF-8", "Use file_download to put it on the user's disk."),
  reveal_refused: failureText(
    false,
    "Text of shared vaults stays out of conversations on this server",
    "Use file_download. The user can allow it by starting this server with --reveal-shared-text.",
  ),
  confirmation_required: failureText(
    false,
    "A person has to confirm this first; nothing was done",
    "Show the user the preview. If the user agrees, call again with the same arguments and the token as confirm.",
  ),
  declined: failureText(false, "The user declined; nothing was done", "Do not ask again unless the user wants it."),
  transfer_unknown: failureText(
    false,
    "This server has no such transfer",
    "Call the tool that began it again: it sends the rest only.",
  ),
  path_not_allowed: failureText(
    false,
    "The path is outside the folders this server may touch",
    "Use a path inside an allowed folder (status_check lists them), or ask the user to start the server with --allow DIR.",
  ),
  secret_in_file: failureText(
    false,
    "The file holds a key or token, so it is not sent",
    "Tell the user, who can take the secret out. Do not copy or encode the file to get around it.",
  ),
  config_file: failureText(
    false,
    "Programs and agents obey a file of this name, so downloads do not write it",
    "Choose another dest. The user can allow it by starting this server with --allow-config-files.",
  ),
  file_not_found: failureText(false, "There is no such local file", "Check the path; the folder must exist too."),
  name_too_long: failureText(
    false,
    "A name in the local path is longer than the file system takes",
    "Use a shorter name.",
  ),
  not_a_file: failureText(false, "The local path is not a regular file", "Name a regular file."),
  edit_refused: failureText(
    false,
    "The edit does not apply to the file as it is now; nothing was stored",
    "Read the file again with file_read, and call again with what it holds now.",
  ),
  destination_exists: failureText(
    false,
    "The destination exists and was left unchanged",
    "Choose another dest, or pass ifExists: replace if it may be replaced.",
  ),
  too_many_deletions: failureText(
    false,
    "It would remove more than half of the files of a side, or all of them for an empty one; nothing was done",
    "Show the user what a dry run would remove. Do not raise the limit without the user.",
  ),
  local_io: failureText(
    true,
    "The local file system refused",
    "Check free space and permissions of the folder, then call again.",
  ),
  integrity_failed: failureText(
    true,
    "The bytes do not match their digest; nothing was kept",
    "Call again; if it repeats, the stored file is damaged: tell the user.",
  ),
  unreachable: failureText(
    true,
    "The service did not answer",
    "Call again in a minute; if it repeats, tell the user to check that the service runs at the baseUrl of status_check.",
  ),
  not_configured: failureText(
    false,
    "The configuration cannot be used",
    "Correct the setting that the detail names, then call again.",
  ),
  locked: failureText(
    true,
    "Another process works on the same files of this machine",
    "Wait until it has ended, then call again.",
  ),
  source_changed: failureText(
    true,
    "The local file changed while it was read; nothing was kept",
    "Call again when the file is at rest.",
  ),
  unexpected_answer: failureText(
    false,
    "The answer does not come from a compatible service",
    "Check the base URL with status_check and tell the user.",
  ),
  remote_server: failureText(
    false,
    "This server runs on another machine, which holds no chain key, so it cannot open shared vaults",
    "Tell the user to start coffer-mcp on their own machine (stdio) for this.",
  ),
  cancelled: failureText(true, "The call was cancelled; nothing was finished", "Call again when it is wanted."),
  unexpected: failureText(
    false,
    "The tool failed in an unforeseen way",
    "Tell the user; details are in this server's log.",
  ),
} as const satisfies Record<string, FailureText>;

export type FailureCode = keyof typeof LOCAL_FAILURES | ErrorCode;

/** One of several that a caller may have meant. */
export interface Candidate {
  readonly id: string;
  readonly name: Untrusted;
}

export type About = "vault" | "folder" | "file" | "key" | "ifExists" | "name";

export interface FailureDetails {
  /** What it is about, for programs that say it in words of their own: the kind of what is not there, or an argument. */
  readonly about?: About;
  /** Replaces the catalogue's sentence. Trusted text only. */
  readonly message?: string;
  readonly nextStep?: string;
  /** Replaces the catalogue's: some causes of a code pass, and others stay. */
  readonly retryable?: boolean;
  /** Words from outside that help: fenced when shown. */
  readonly detail?: Untrusted;
  readonly requestId?: string;
  /** What the caller may choose from. */
  readonly candidates?: readonly Candidate[];
  /** The act that `confirmation_required` asks about, in trusted text, and the token that stands for a person's agreement. */
  readonly preview?: string;
  readonly confirm?: string;
  readonly cause?: unknown;
}

/** A failure as the model is to read it. */
export class TaskFailure extends Error {
  override readonly name = "TaskFailure";
  readonly code: FailureCode;
  readonly about: About | null;
  readonly nextStep: string;
  readonly retryable: boolean;
  readonly detail: Untrusted | null;
  readonly requestId: string | null;
  readonly candidates: readonly Candidate[];
  readonly preview: string | null;
  readonly confirm: string | null;

  constructor(code: FailureCode, details: FailureDetails = {}) {
    const text = isLocal(code) ? LOCAL_FAILURES[code] : ERRORS[code];
    super(details.message ?? text.message, { cause: details.cause });
    this.code = code;
    this.about = details.about ?? null;
    this.nextStep = details.nextStep ?? stepFor(code);
    this.retryable = details.retryable ?? text.retryable;
    this.detail = details.detail ?? null;
    this.requestId = details.requestId ?? null;
    this.candidates = details.candidates ?? [];
    this.preview = details.preview ?? null;
    this.confirm = details.confirm ?? null;
  }
}

/** The failure with another step: where more is known than when it was thrown. */
export function withStep(failure: TaskFailure, nextStep: string): TaskFailure {
  return new TaskFailure(failure.code, { ...detailsOf(failure), nextStep });
}

/** The failure with another detail, which is text of others. */
export function withDetail(failure: TaskFailure, detail: string): TaskFailure {
  return new TaskFailure(failure.code, { ...detailsOf(failure), detail: untrusted(detail) });
}

function detailsOf(failure: TaskFailure): FailureDetails {
  const { about, candidates, cause, confirm, detail, message, nextStep, preview, requestId, retryable } = failure;
  return {
    message,
    nextStep,
    retryable,
    candidates,
    cause,
    ...(about === null ? {} : { about }),
    ...(confirm === null ? {} : { confirm }),
    ...(detail === null ? {} : { detail }),
    ...(preview === null ? {} : { preview }),
    ...(requestId === null ? {} : { requestId }),
  };
}

function isVaultCode(code: string): code is keyof typeof VAULT_FAILURES {
  return Object.hasOwn(VAULT_FAILURES, code);
}

function isLocal(code: string): code is keyof typeof LOCAL_FAILURES {
  return Object.hasOwn(LOCAL_FAILURES, code);
}

/** Steps of the service's catalogue that speak of HTTP, as a tool can take them. */
const TOOL_STEPS: Readonly<Partial<Record<ErrorCode, string>>> = {
  malformed_json: "Call again; if it repeats, tell the user.",
  malformed_request: "Call again; if it repeats, tell the user.",
  not_encrypted: "Tell the user to update this server.",
  invalid_credential: LOCAL_FAILURES.signed_out.nextStep,
  development_origin: "Tell the user that this server needs a key: SERVICE_API_KEY, or the config file.",
  form_origin: "Tell the user.",
  owner_proof_required: "Ask the account's owner: it takes a client with the owner's chain key.",
  method_not_allowed: "Tell the user to update this server.",
  offset_mismatch: "Call again: what was sent is kept.",
  tree_busy: "Call again in a minute: the large act on this folder is through for every reader, and its rows follow.",
  upload_locked: "Call again in a minute: what was sent is kept.",
  vault_not_empty: "Delete its content first.",
  generation_moved: "Call again.",
  names_outdated: "Call again.",
  key_exists: "Call again.",
  idempotency_mismatch: "Pass another idempotencyKey.",
  idempotency_in_progress: "Call again in a minute.",
  unsupported_tus_version: "Tell the user to update this server.",
  unsupported_media_type: "Tell the user to update this server.",
  range_not_satisfiable: "Pass a smaller offset.",
  rate_limited: "Call again in a minute.",
  budget_exceeded: "Call again in a minute, or ask the account's owner for a key with a larger budget.",
  headers_too_large: "Pass shorter arguments.",
  internal: "Call again. If it fails again, tell the user, with the requestId.",
  chain_unavailable: "Call again in a minute; status_check says whether the chain answers.",
  provider_unavailable: "Call again in a minute.",
  unavailable: "Call again in a minute.",
};

/** What to do about a code; of one that is in no catalogue, where to look. */
export function stepFor(code: string): string {
  if (isLocal(code)) return LOCAL_FAILURES[code].nextStep;
  return isErrorCode(code) ? (TOOL_STEPS[code] ?? ERRORS[code].nextStep) : "Call vault_access_check for the vault.";
}

/** Turns anything thrown into a failure. It recognises errors of the SDK by their fields: the SDK is loaded lazily. */
export function toFailure(thrown: unknown, signal?: AbortSignal): TaskFailure {
  if (thrown instanceof TaskFailure) return thrown;
  if (signal?.aborted === true) return new TaskFailure("cancelled", { cause: thrown });
  if (!(thrown instanceof Error)) return new TaskFailure("unexpected", { cause: thrown });
  return fromSdkError(thrown) ?? fromSystemError(thrown);
}

/** The SDK's own codes, as a tool returns them. A few say the same in other words. */
const SDK_CODES: Readonly<Record<string, FailureCode>> = {
  connection_failed: "unreachable",
  timeout: "unreachable",
  aborted: "cancelled",
  integrity_failed: "integrity_failed",
  destination_exists: "destination_exists",
  too_many_deletions: "too_many_deletions",
  source_changed: "source_changed",
  edit_refused: "edit_refused",
  configuration: "not_configured",
  locked: "locked",
  profile_missing: "not_configured",
  keychain_unusable: "not_configured",
  credential_missing: "signed_out",
  invalid_request: "invalid_arguments",
  contract_broken: "unexpected_answer",
  unknown_error: "unexpected_answer",
};

/** Their messages describe the file or the setting at fault; the others say no more than the catalogue. */
const DESCRIBING = new Set<FailureCode>([
  "not_configured",
  "invalid_arguments",
  "too_many_deletions",
  "locked",
  "edit_refused",
]);

function fromSdkError(error: Error): TaskFailure | null {
  const code = textField(error, "code");
  if (code === undefined || !("nextStep" in error)) return null;
  const requestId = textField(error, "requestId");
  const facts = { cause: error, ...(requestId === undefined ? {} : { requestId }) };
  // With a wrong password nobody was signed in: that failure has words of its own.
  const isRefused =
    code === "invalid_credential" || code === "session_ended" || ("status" in error && error.status === 401);
  if (isRefused && code !== "wrong_credentials") {
    return new TaskFailure("signed_out", { ...facts, ...refusedKey(error.message) });
  }
  if (isErrorCode(code)) {
    const detail = error.message === ERRORS[code].message ? {} : { detail: untrusted(error.message) };
    return new TaskFailure(code, {
      ...facts,
      ...detail,
      ...(code === "budget_exceeded" ? budgetFacts(error) : waitFacts(error)),
    });
  }
  if (isVaultCode(code)) return new TaskFailure(code, { ...facts, detail: untrusted(error.message) });
  const own = SDK_CODES[code];
  if (own === undefined) return new TaskFailure("unexpected", facts);
  if (own === "unreachable") return new TaskFailure(own, { ...facts, ...connectionFacts(error) });
  return new TaskFailure(own, DESCRIBING.has(own) ? { ...facts, detail: untrusted(error.message) } : facts);
}

const NEW_KEY =
  "It takes a new invite of the account's owner, which the user redeems with coffer login after coffer logout, or a new key: ask the user to put that into SERVICE_API_KEY of this server's environment, or into the config file that status_check names. Never ask for a key in the conversation.";

const KEY_STEPS: Readonly<Record<KeyRefusal, string>> = {
  revoked: NEW_KEY,
  expired: NEW_KEY,
  mistyped:
    "Ask the user to copy the whole key again into SERVICE_API_KEY of this server's environment, or into the config file that status_check names. Never ask for a key in the conversation.",
};

/** A service's sentence is untrusted text; the catalogue's own one, which it is equal to, is not. */
function refusedKey(sentence: string): FailureDetails {
  const refusal = keyRefusalOf(sentence);
  if (refusal === null) return { message: "The service did not accept this server's key or session" };
  return { message: KEY_REFUSALS[refusal], nextStep: KEY_STEPS[refusal] };
}

/** A budget that renews within a minute is worth a repeat; of another one the user should know when. */
function budgetFacts(error: Error): FailureDetails {
  const retryAt: unknown = "retryAt" in error ? error.retryAt : null;
  if (isRetryable(error) || !(retryAt instanceof Date)) return { retryable: isRetryable(error) };
  return {
    retryable: false,
    nextStep: `Tell the user: it renews at ${retryAt.toISOString()}. The account's owner can make a key with a larger budget.`,
  };
}

/** A caller repeats what is retryable. Beyond this it should do something else, and know when to come back. Milliseconds. */
const LONGEST_WAIT = 60_000;

function waitFacts(error: Error): FailureDetails {
  const wait: unknown = "retryAfterMs" in error ? error.retryAfterMs : null;
  if (typeof wait !== "number" || wait <= LONGEST_WAIT) return {};
  const again = new Date(Date.now() + wait).toISOString();
  return { retryable: false, nextStep: `Tell the user: the service takes it again at ${again}.` };
}

/** The client knows why no answer came, and says what to set. Of a time limit it knows no more than a proxy that was passed by. */
function connectionFacts(error: Error): FailureDetails {
  const nextStep = textField(error, "nextStep");
  const isLimit = textField(error, "code") === "timeout";
  if (nextStep === undefined || (isLimit && !nextStep.includes("proxy"))) return {};
  return { nextStep, retryable: isRetryable(error), ...(isLimit ? {} : { message: error.message }) };
}

function isRetryable(error: Error): boolean {
  return !("retryable" in error) || error.retryable !== false;
}

const SYSTEM_CODES: Readonly<Record<string, FailureCode>> = {
  ENOENT: "file_not_found",
  ENOTDIR: "file_not_found",
  EEXIST: "destination_exists",
  EISDIR: "not_a_file",
  ENAMETOOLONG: "name_too_long",
  ELOOP: "path_not_allowed",
};

function fromSystemError(error: Error): TaskFailure {
  const code = textField(error, "code");
  if (code === undefined || !("syscall" in error)) return new TaskFailure("unexpected", { cause: error });
  return new TaskFailure(SYSTEM_CODES[code] ?? "local_io", { cause: error });
}

function textField(error: Error, name: string): string | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(error, name)?.value;
  return typeof value === "string" ? value : undefined;
}
