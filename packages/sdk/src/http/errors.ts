import {
  ERROR_FACTS,
  errorsOf,
  isErrorCode,
  type BudgetName,
  type BytesMarker,
  type EndpointDefinition,
  type ErrorCode,
} from "@coffer/contract";
import { markClass } from "./class-mark.ts";
import { redactText } from "./redaction.ts";
import { INSPECT } from "./secret.ts";
import type { ChainErrorCode } from "@coffer/chain";
import type { CryptoErrorCode, CryptoStep } from "@coffer/crypto";

/** Codes of failures that did not come from the service. */
export type ClientErrorCode =
  | "unknown_error"
  | "connection_failed"
  /** The service, or something before it, redirects to another address. No redirect is followed. */
  | "redirected"
  | "timeout"
  | "aborted"
  | "contract_broken"
  | "integrity_failed"
  | "invalid_request"
  | "configuration"
  | "profile_missing"
  | "keychain_unusable"
  /** Another process works on the same files of this machine. */
  | "locked"
  /** The endpoint needs a credential, and the client has none. Nothing was sent. */
  | "credential_missing"
  | "source_changed"
  | "destination_exists"
  /** Nothing was done: see `maxDelete` of `syncFolder`. */
  | "too_many_deletions"
  | "not_resumable"
  /** An edit that does not apply to the newest version: see `replaceText`. Nothing was stored. */
  | "edit_refused"
  | VaultErrorCode;

/** What every error of the SDK says, safe to log. */
export interface ErrorFacts {
  readonly code: ErrorCode | ClientErrorCode;
  /** The same call may succeed later without any change. */
  readonly retryable: boolean;
  /** What you do next: one sentence. */
  readonly nextStep: string;
}

/** What came with an error that the service answered. */
export interface AnswerFacts {
  readonly status: number;
  readonly requestId: string | null;
  /** Milliseconds that the server asked to wait (`Retry-After`); null when it did not. */
  readonly retryAfterMs: number | null;
  /** UUID of the file that a commit was refused for. Absent: the refusal names none. */
  readonly itemId?: string | undefined;
  /** The tag that this file has now. Absent: the refusal says none. */
  readonly currentTag?: string | undefined;
}

/** Any failure of the SDK. No field ever holds a credential, a header or a body. A code has one class, whoever found the failure. */
export class SdkError extends Error implements ErrorFacts {
  static {
    markClass(this, "SdkError");
  }

  override readonly name: string = "SdkError";
  readonly code: ErrorCode | ClientErrorCode;
  readonly retryable: boolean;
  readonly nextStep: string;
  /** The HTTP status of the service's answer; null when this client found the failure. */
  readonly status: number | null;
  /** The service's id of the request; null when it gave none, and when this client found the failure. */
  readonly requestId: string | null;
  /** Milliseconds that the service asked to wait (`Retry-After`); null when it did not. */
  readonly retryAfterMs: number | null;
  /** UUID of the file of a commit that this failure is about; null when it is about none, or about all of them. */
  readonly itemId: string | null;
  /**
   * The `tag` that this file has now, where the commit failed with `precondition_failed`. null when that is not known: read the file again.
   * In a shared vault this client has computed it of statements that it verified.
   */
  readonly currentTag: string | null;
  /**
   * An earlier attempt of this call, whose answer was lost, may have done the work. The service may have refused only
   * a second time of it. Check the item before you treat this as a failure.
   */
  readonly perhapsDone: boolean = false;

  constructor(message: string, facts: ErrorFacts & Partial<AnswerFacts>, cause?: Error) {
    super(redactText(message), cause && { cause });
    this.code = facts.code;
    this.retryable = facts.retryable;
    this.nextStep = facts.nextStep;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.itemId = facts.itemId ?? null;
    this.currentTag = facts.currentTag ?? null;
  }

  /** The facts, without stack and cause. */
  toJSON(): Record<string, unknown> {
    const { name, message, code, retryable, nextStep } = this;
    return { name, message, code, retryable, nextStep, ...this.details() };
  }

  [INSPECT](): string {
    const frames = (this.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
    return [
      `${this.name} [${this.code}]: ${this.message}`,
      `  ${this.nextStep}`,
      `  ${JSON.stringify({ retryable: this.retryable, ...this.details() })}`,
      ...frames,
    ].join("\n");
  }

  protected details(): Record<string, unknown> {
    const { status, requestId, perhapsDone, itemId } = this;
    const item = itemId === null ? {} : { itemId };
    return status === null ? item : { status, requestId, perhapsDone: perhapsDone || undefined, ...item };
  }
}

/** A setting, of the client or of this machine, that cannot be used. */
export function configurationError(message: string, cause?: Error): SdkError {
  const nextStep = "Correct the client's settings.";
  return new SdkError(message, { code: "configuration", retryable: false, nextStep }, cause);
}

/** Another process works on the same files of this machine. Its lock ends with it. */
export function lockedError(message: string): SdkError {
  const nextStep = "Wait until the other process has ended, then call again.";
  return new SdkError(message, { code: "locked", retryable: true, nextStep });
}

/** Nothing was sent: a service in development would have acted as the first account's owner. */
export function credentialMissing(endpointId: string): SdkError {
  return new SdkError(`${endpointId} needs a credential, and this client has none`, {
    code: "credential_missing",
    retryable: false,
    nextStep: "Give createClient credentials: an API key or a session.",
  });
}

/** What makes an {@link ApiError}. */
export interface ApiErrorFacts extends AnswerFacts {
  readonly retryable: boolean;
  /** What you do next: one sentence. */
  readonly nextStep: string;
}

/** What a refusal for a budget says of it. */
export interface BudgetFacts {
  /** Which budget. null: the service did not say. */
  readonly budget: BudgetName | null;
  /** From when on the same call has room, by this machine's clock. null: waiting does not help. */
  readonly retryAt: Date | null;
}

/** The codes of a key's budgets. */
export type BudgetErrorCode = "budget_exceeded" | "budget_storage";

/** The codes that only the service finds. It is `unknown_error` for an answer from elsewhere (a proxy). */
export type ApiErrorCode = Exclude<ErrorCode, VaultErrorCode | BudgetErrorCode | "session_ended"> | "unknown_error";

/** The service answered with an error. */
export class ApiError extends SdkError {
  static {
    markClass(this, "ApiError");
  }

  override readonly name = "ApiError";
  declare readonly code: ApiErrorCode;
  declare readonly status: number;

  constructor(code: ApiErrorCode, message: string, facts: ApiErrorFacts) {
    super(message, { ...facts, code });
  }
}

/** The web session is over: the service refused it, a new pair of tokens was lost on its way, or this client signed out. */
export class SessionEndedError extends SdkError {
  static {
    markClass(this, "SessionEndedError");
  }

  override readonly name = "SessionEndedError";
  declare readonly code: "session_ended";
  readonly reason: "refused" | "answer_lost" | "signed_out";

  constructor(reason: "refused" | "answer_lost" | "signed_out", cause?: Error, answer?: AnswerFacts) {
    const why = reason === "answer_lost" ? ": the answer with its new tokens was lost" : "";
    super(
      `The session has ended${why}`,
      { ...answer, code: "session_ended", retryable: false, nextStep: "Sign in again." },
      cause,
    );
    this.reason = reason;
  }

  protected override details(): Record<string, unknown> {
    return { ...super.details(), reason: this.reason };
  }
}

/** No answer of the service came: refused, reset, name not found, TLS, a redirect. The server may or may not have done the work. */
export class ConnectionError extends SdkError {
  static {
    markClass(this, "ConnectionError");
  }

  override readonly name = "ConnectionError";
  declare readonly code: "connection_failed" | "redirected";
  /** `facts`: what is known of the cause. */
  constructor(
    message: string,
    cause?: Error,
    facts: Partial<Omit<ErrorFacts, "code">> & { readonly code?: "connection_failed" | "redirected" } = {},
  ) {
    super(
      message,
      {
        code: facts.code ?? "connection_failed",
        retryable: facts.retryable ?? true,
        nextStep: facts.nextStep ?? "Check the base URL and that the service runs; then repeat.",
      },
      cause,
    );
  }
}

/** Names where it came from, and never where it leads. `setting`: the one that holds the address. */
export function redirectedError(origin: string, cause?: Error, setting = "base URL"): ConnectionError {
  return new ConnectionError(`${origin} redirects to another address`, cause, {
    code: "redirected",
    retryable: false,
    nextStep: `Use the address that it leads to as the ${setting}: often the same one with https:// in place of http://.`,
  });
}

/** A time limit passed: `attempt` (one request), `total` (all attempts) or `stall` (no byte moved). `afterMs` is that limit. */
export class TimeoutError extends SdkError {
  static {
    markClass(this, "TimeoutError");
  }

  override readonly name = "TimeoutError";
  declare readonly code: "timeout";
  readonly limit: "attempt" | "total" | "stall";
  readonly afterMs: number;

  constructor(limit: "attempt" | "total" | "stall", afterMs: number, nextStep = "Repeat it, or raise the time limit.") {
    const what = limit === "stall" ? "No byte moved for" : "No answer within";
    super(`${what} ${String(afterMs)} ms`, {
      code: "timeout",
      retryable: true,
      nextStep,
    });
    this.limit = limit;
    this.afterMs = afterMs;
  }

  protected override details(): Record<string, unknown> {
    return { limit: this.limit, afterMs: this.afterMs };
  }
}

/** The caller's `AbortSignal` ended the call. */
export class AbortError extends SdkError {
  static {
    markClass(this, "AbortError");
  }

  override readonly name = "AbortError";
  declare readonly code: "aborted";
  readonly #reason: unknown;

  constructor(reason: unknown) {
    super("The call was aborted", { code: "aborted", retryable: false, nextStep: "Call again." });
    this.#reason = reason;
  }

  /** The caller's argument of `abort()`: `signal.reason`. Not printed, since it may be anything. */
  get reason(): unknown {
    return this.#reason;
  }
}

/** The answer, or the input, does not have the shape of the contract. `issues` name the fields, never their values. */
export class ContractError extends SdkError {
  static {
    markClass(this, "ContractError");
  }

  override readonly name = "ContractError";
  declare readonly code: "invalid_request" | "contract_broken";
  readonly issues: readonly string[];

  constructor(side: "request" | "response", endpointId: string, issues: readonly string[]) {
    const request = side === "request";
    super(`${endpointId}: ${request ? "invalid input" : "the answer breaks the contract"}: ${issues.join("; ")}`, {
      code: request ? "invalid_request" : "contract_broken",
      retryable: false,
      nextStep: request
        ? "Correct the field that the message names."
        : "Check that client and server are of compatible versions.",
    });
    this.issues = issues.map(redactText);
  }

  protected override details(): Record<string, unknown> {
    return { issues: this.issues };
  }
}

/** Bytes are wrong: another digest, or a short body. Do not use the bytes read so far. */
export class IntegrityError extends SdkError {
  static {
    markClass(this, "IntegrityError");
  }

  override readonly name = "IntegrityError";
  declare readonly code: "integrity_failed";
  constructor(message: string) {
    super(message, {
      code: "integrity_failed",
      retryable: true,
      nextStep: "Discard what was received and transfer it again.",
    });
  }
}

/** A failure in a shared vault. `status` is null unless the service found it. `step` names the check that failed, if a file was read. */
export class VaultError extends SdkError {
  static {
    markClass(this, "VaultError");
  }

  override readonly name = "VaultError";
  declare readonly code: VaultErrorCode;
  readonly step: CryptoStep | null;

  constructor(code: VaultErrorCode, message: string, facts: VaultErrorFacts) {
    super(message, { ...facts, code }, facts.cause);
    this.step = facts.step ?? null;
  }

  protected override details(): Record<string, unknown> {
    return { ...super.details(), step: this.step ?? undefined };
  }
}

/** The facts of a failure in a shared vault. */
export interface VaultErrorFacts extends Partial<AnswerFacts> {
  readonly retryable: boolean;
  readonly nextStep: string;
  readonly step?: CryptoStep | null;
  readonly cause?: Error | undefined;
}

/** The errors that an endpoint declares, as a type: code for code the contract's `errorsOf`. */
export type EndpointErrorCode<E extends EndpointDefinition> =
  | E["errors"][number]
  | "internal"
  | "unavailable"
  | "rate_limited"
  | (E["auth"] extends "credential" ? "invalid_credential" | "development_origin" | "budget_exceeded" : never)
  | (E["access"] extends "owner" ? "owner_only" : never)
  | (E["scope"] extends null ? never : "missing_scope")
  | (E["vaultLimit"] extends "refuse" ? "vault_limited_key" : never)
  | ("chain_unavailable" extends E["errors"][number] ? "clock_skew" : never)
  | InputErrorCode<E>
  | (E extends { method: "POST"; effect: "create"; auth: "credential" } ? RepeatErrorCode<E> : never);

type InputErrorCode<E> =
  | (E extends { params: object } | { query: object } | { headers: object } | { body: object }
      ? "validation_failed"
      : never)
  | (E extends { body: object } ? "unsupported_media_type" | "body_truncated" | "request_timeout" : never)
  | (E extends { body: infer Body } ? (Body extends BytesMarker ? never : "malformed_json" | "body_too_large") : never);

type RepeatErrorCode<E> =
  | "idempotency_in_progress"
  | "idempotency_mismatch"
  | (E extends { secretResponse: true } ? "already_created" : never);

/** An error whose code the endpoint declares: one of {@link EndpointErrorCode}, in the class of that code. */
export type EndpointError<E extends EndpointDefinition> = ErrorOf<EndpointErrorCode<E>>;

/** The class in which a code of the catalogue arrives. */
type ErrorOf<Code> = Code extends VaultErrorCode
  ? VaultError & { readonly code: Code }
  : Code extends "session_ended"
    ? SessionEndedError
    : Code extends BudgetErrorCode
      ? SdkError & BudgetFacts & { readonly code: Code }
      : ApiError & { readonly code: Code };

/**
 * The error as one that this endpoint declares, or null. Narrow on `.code` afterwards.
 *
 * @example
 * ```ts
 * // import { api } from "@coffer/contract"
 * const failure = failureOf(api.files.get, error);
 * if (failure?.code === "not_found") return null;
 * ```
 */
export function failureOf<E extends EndpointDefinition>(endpoint: E, error: unknown): EndpointError<E> | null {
  return error instanceof SdkError && declares(endpoint, error) ? error : null;
}

/** Whether the service answered with this error. */
export function isAnswered(error: unknown): error is SdkError & { readonly status: number } {
  return error instanceof SdkError && error.status !== null;
}

function declares<E extends EndpointDefinition>(endpoint: E, error: SdkError): error is EndpointError<E> {
  return (errorsOf(endpoint) as readonly string[]).includes(error.code);
}

/** The failure in an answer, in the class of its code. */
export function answeredError(
  code: Exclude<ErrorCode, BudgetErrorCode> | "unknown_error",
  message: string,
  answer: AnswerFacts & { readonly nextStep: string },
): SdkError {
  const facts = { ...answer, retryable: isRetryable(code, answer.status) };
  if (code === "session_ended") return new SessionEndedError("refused", undefined, facts);
  return isFoundHereToo(code) ? new VaultError(code, message, facts) : new ApiError(code, message, facts);
}

function isFoundHereToo(code: string): code is VaultErrorCode {
  return (FOUND_HERE_TOO as string[]).includes(code);
}

/** Codes of the catalogue that this client finds by itself, too: on the chain, at the key servers, in what it decrypts. */
const FOUND_HERE_TOO = [
  "not_a_member",
  "membership_ended",
  "clock_skew",
  "chain_unavailable",
  "not_encrypted",
  "generation_moved",
  "public_vault",
  "vault_required",
] satisfies Extract<ErrorCode, VaultErrorCode>[];

function isRetryable(code: string, status: number): boolean {
  return isErrorCode(code) ? ERROR_FACTS[code][1] : isRetryableStatus(status);
}

/** Statuses worth a repeat when no code explains them: 408, 425, 429 and server faults that pass. */
function isRetryableStatus(status: number): boolean {
  return status >= 500 ? status !== 501 && status !== 505 : [408, 425, 429].includes(status);
}

/** Codes of failures in shared vaults that did not come from the service. */
export type VaultErrorCode =
  | ChainErrorCode
  | Exclude<CryptoErrorCode, "source_changed">
  /** The vault is shared, and this client has no chain key or no network. */
  | "shared_vault"
  | "public_vault"
  /** You named no vault, and this client takes none from the service alone. */
  | "vault_required"
  /** The vault or a folder of it kept changing while this client wrote. */
  | "generation_moved"
  /** The signer has no key that signs statements, or the vault names another one. */
  | "signing_key_missing"
  /** The client's keys were forgotten while this was under way, or the export was closed. */
  | "keys_forgotten"
  /** Nobody has signed that an export is whole. */
  | "export_unsigned"
  /** The invite's secret proves no address that the service shows. */
  | "invite_unproven"
  /** The address is malformed, or its public key is another address's. */
  | "address_invalid";
