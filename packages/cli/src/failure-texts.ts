/** What is said of each failure: the next command, and sentences in place of those that speak of the tool server. */
import { ERRORS, isErrorCode } from "@coffer/contract";
import { LOCAL_FAILURES, type FailureCode } from "@coffer/tasks/start";
import { EXIT_OF_UNKNOWN_CODE, exitOfFailure, type ExitCode } from "./exit-codes.ts";

/** `retryable`: whether a repeat of this very failure can help. Default: as the catalogue says of the code. `isUsage`: see exit-codes.ts. */
export function exitOfCode(
  code: FailureCode,
  { retryable, isUsage = false }: { readonly retryable?: boolean; readonly isUsage?: boolean | undefined } = {},
): ExitCode {
  const catalogued = isLocalCode(code) ? { ...LOCAL_FAILURES[code], status: null } : ERRORS[code];
  return exitOfFailure({
    code,
    status: catalogued.status,
    retryable: retryable ?? catalogued.retryable,
    isUsage,
  });
}

const isLocalCode = (code: string): code is keyof typeof LOCAL_FAILURES => Object.hasOwn(LOCAL_FAILURES, code);

const AGAIN = "run the same command again";
const LOOK = "coffer vaults check VAULT";
const LIST_MEMBERS = "coffer vaults members list VAULT";
const REPORT = "coffer doctor, and tell the operator the request id (--verbose shows it)";
const EXPLAIN_KEY = "coffer api-keys explain COMMAND shows what a key needs; ask the owner for such a key";

const NEXT_STEPS: readonly (readonly [next: string, ...codes: FailureCode[]])[] = [
  [
    "coffer login",
    "invalid_credential",
    "session_ended",
    "signed_out",
    "sign_in_ended",
    "state_invalid",
    "proof_invalid",
    "provider_refused",
    "wrong_credentials",
  ],
  [
    "correct what the message names; --help shows an example",
    "validation_failed",
    "edit_refused",
    "invalid_arguments",
    "url_refused",
    "end_invalid",
    "address_invalid",
    "floor_invalid",
    "malformed_json",
    "malformed_request",
  ],
  [
    AGAIN,
    "body_truncated",
    "digest_mismatch",
    "request_timeout",
    "offset_mismatch",
    "upload_locked",
    "tree_busy",
    "checksum_mismatch",
    "upload_expired",
    "idempotency_in_progress",
    "idempotency_mismatch",
    "source_changed",
    "cancelled",
    "provider_unavailable",
    "unavailable",
    "rate_limited",
    "chain_stale",
    "generation_moved",
    "keys_forgotten",
    "names_outdated",
    "transaction_failed",
    "precondition_failed",
    "statement_invalid",
    "transfer_unknown",
  ],
  ["wait until the other one has ended, then run the same command again", "locked"],
  ["wait a minute, then run the same command again", "key_servers_unavailable", "key_servers_behind", "disk_full"],
  [
    "check that the service runs at that address (coffer config get base-url), then run the same command again",
    "unreachable",
  ],
  ["wait a minute, then run the same command again; coffer doctor shows what does not answer", "chain_unavailable"],
  [
    "coffer doctor",
    "not_configured",
    "unexpected_answer",
    "clock_skew",
    "signature_invalid",
    "network_changed",
    "wrong_chain_key",
    "address_alias",
    "chain_disagrees",
    "method_not_allowed",
    "development_origin",
    "form_origin",
    "unsupported_tus_version",
    "unsupported_media_type",
    "headers_too_large",
    "remote_server",
  ],
  [REPORT, "internal", "unexpected"],
  ["ask the operator: this server is not set up for it", "shared_vaults_unavailable"],
  ["pass --vault VAULT: coffer vaults list shows names and ids", "vault_required"],
  [
    "coffer vaults list",
    "not_found",
    "vault_not_found",
    "different_vault",
    "public_vault",
    "default_vault",
    "chain_object_taken",
    "chain_object_invalid",
    "transaction_unknown",
  ],
  ["name the one you mean by its id", "ambiguous"],
  ["coffer ls", "trashed", "not_trashed", "folder_cycle", "too_deep", "not_text", "range_not_satisfiable"],
  ["choose another name", "name_exists"],
  ["coffer versions list FILE", "current_version"],
  [
    "pass --force to trash all that is in it, or empty it first: coffer rm --recursive VAULT:NAME for each name of coffer ls VAULT:, then coffer trash empty VAULT",
    "vault_not_empty",
  ],
  [
    LOOK,
    "not_a_member",
    "membership_ended",
    "vault_changed",
    "rolled_back",
    "wrong_key",
    "damaged",
    "not_offered",
    "key_exists",
    "transaction_refused",
  ],
  [
    LIST_MEMBERS,
    "already_member",
    "is_owner",
    "members_full",
    "not_on_allowlist",
    "still_on_allowlist",
    "invite_unproven",
    "act_outdated",
  ],
  ["coffer account link-chain", "address_required"],
  ["coffer account show", "address_conflict", "storage_quota", "limit_reached", "file_too_large", "body_too_large"],
  ["coffer email resend, then coffer email verify TOKEN", "email_unverified"],
  [EXPLAIN_KEY, "missing_scope", "scope_too_wide", "scope_owner_only", "vault_limited_key"],
  [
    "ask the owner of the account or of the vault, or use their profile: --profile NAME",
    "owner_only",
    "not_owner",
    "owner_proof_required",
  ],
  ["coffer budgets", "budget_storage", "budget_exceeded"],
  ["choose 15 characters or more, such as a few unrelated words", "weak_password"],
  ["coffer password forgot EMAIL", "wrong_password"],
  ["ask for a new mail: coffer email resend, or coffer password forgot EMAIL", "token_invalid"],
  ["ask the operator for an access code", "access_code_invalid"],
  ["coffer login --email EMAIL", "email_exists"],
  ["ask the owner for a new invite", "invite_ended"],
  ["coffer webhooks list", "webhook_inactive"],
  ["coffer api-keys list", "key_inactive", "already_created"],
  ["coffer changes, without --after", "cursor_expired"],
  ["coffer billing show", "plan_unchanged", "subscription_required", "usage_above_plan"],
  ["upload it with this client: coffer upload PATH --vault VAULT", "not_encrypted"],
  ["coffer doctor, which says what is missing and how to get it", "shared_vault"],
  ["send some SUI to the address: coffer chain address", "no_gas"],
  ["coffer vaults set-signing-key VAULT", "signing_key_missing", "signing_key_invalid", "too_many_keys"],
  ["ask the owner for a signed export", "export_unsigned"],
  ["update coffer", "unsupported_version", "unsupported_suite"],
  ["run it in a terminal, or pass --yes", "confirmation_required"],
  ["run it again when you want it", "declined"],
  ["use coffer download FILE", "reveal_refused"],
  ["name another path", "path_not_allowed", "file_not_found", "name_too_long", "not_a_file"],
  ["take the secret out of the file, or name other files", "secret_in_file"],
  ["name another destination", "config_file"],
  ["name another destination, or pass --overwrite", "destination_exists"],
  ["look at it with --dry-run; if that is right, pass --max-delete N with that number", "too_many_deletions"],
  ["check free space and permissions, then run it again", "local_io"],
  ["coffer verify FILE", "integrity_failed"],
];

const NEXT: ReadonlyMap<string, string> = new Map(
  NEXT_STEPS.flatMap(([next, ...codes]) => codes.map((code): [string, string] => [code, next])),
);

/** What lists the things of a group, where something of it was not found. */
const LISTS: Readonly<Record<string, string>> = Object.fromEntries(
  ["webhooks", "invites", "agents", "api-keys", "sessions"].map((group) => [group, `coffer ${group} list`]),
);

/** The next command, or what to do where there is none. `group`: the first word of the command that failed. */
export const nextStepOf = (code: FailureCode, group = ""): string =>
  (code === "not_found" ? LISTS[group] : undefined) ??
  (code === "name_exists" && group === "upload"
    ? "pass --if-exists version, rename or skip, or another --name"
    : undefined) ??
  NEXT.get(code) ??
  "coffer doctor";

/** Whether the code is of a catalogue: the table has words of its own for each. */
export const isFailureCode = (code: string): code is FailureCode => NEXT.has(code);

/** Sentences of tasks that speak of the tool server. */
const SENTENCES: Readonly<Partial<Record<FailureCode, string>>> = {
  signed_out: "Nobody is signed in here",
  invalid_arguments: "That cannot be used",
  ambiguous: "Several match, and none was chosen",
  shared_vault:
    "Shared vaults need a chain key and a network file, and one of them is missing here (SERVICE_CHAIN_PRIVATE_KEY, SERVICE_NETWORK_FILE)",
  wrong_chain_key: "The vault names another chain key than yours",
  network_changed: "The chain is not the one that you have configured",
  vault_changed: "The vault is not the one that was pinned here; nothing was written",
  signing_key_missing: "The vault names no key with which you could sign what you write",
  unsupported_version: "The file's format is newer than this program",
  unsupported_suite: "The file's format is newer than this program",
  destination_exists: "The destination exists and was left unchanged",
  cancelled: "Interrupted",
  unexpected: "Something unforeseen went wrong",
};

/** How a code is shown that came as a fact of an item, and not as a failure. */
export function textOfCode(code: string): {
  readonly exit: ExitCode;
  readonly message: string;
  readonly nextStep: string;
} {
  if (!isErrorCode(code) && !isLocalCode(code))
    return { exit: EXIT_OF_UNKNOWN_CODE, message: code, nextStep: nextStepOf("unexpected") };
  const catalogued = isLocalCode(code) ? LOCAL_FAILURES[code] : ERRORS[code];
  return { exit: exitOfCode(code), message: sentenceOf(code) ?? catalogued.message, nextStep: nextStepOf(code) };
}

/** Replaces a catalogue's own sentence. */
export const sentenceOf = (code: FailureCode): string | undefined => SENTENCES[code];
