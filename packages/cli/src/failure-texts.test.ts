import { ERRORS } from "@coffer/contract";
import { ContractError, SdkError, type ClientErrorCode } from "@coffer/sdk";
import { ProfileMissingError } from "@coffer/sdk/node";
import { LOCAL_FAILURES, TaskFailure, type FailureCode } from "@coffer/tasks";
import { describe, expect, it } from "vitest";
import { listCommands } from "./command-list.ts";
import { GLOBAL_FLAGS, LIST_FLAGS } from "./global-flags.ts";
import { kebab } from "./flag-forms.ts";
import { printedCommands } from "./printed-commands.ts";
import { ROUTES } from "./routes.ts";
import { EXIT } from "./exit-codes.ts";
import { exitOfCode, isFailureCode, nextStepOf } from "./failure-texts.ts";
import { CommandFailure, reportOf } from "./failure.ts";

const CODES = [...new Set([...Object.keys(ERRORS), ...Object.keys(LOCAL_FAILURES)])].sort() as FailureCode[];

it("every code of the catalogues has an exit code and words of its own [issue 19]", () => {
  expect(CODES.filter((code) => !isFailureCode(code))).toEqual([]);
  const byExit = Object.groupBy(CODES, (code) => String(exitOfCode(code)));
  expect(byExit).toMatchInlineSnapshot(`
    {
      "1": [
        "act_outdated",
        "address_alias",
        "body_too_large",
        "chain_disagrees",
        "chain_object_invalid",
        "clock_skew",
        "damaged",
        "declined",
        "different_vault",
        "export_unsigned",
        "file_too_large",
        "floor_invalid",
        "headers_too_large",
        "idempotency_mismatch",
        "integrity_failed",
        "invite_unproven",
        "local_io",
        "malformed_json",
        "malformed_request",
        "members_full",
        "method_not_allowed",
        "name_too_long",
        "network_changed",
        "no_gas",
        "not_a_file",
        "not_encrypted",
        "not_text",
        "proof_invalid",
        "provider_refused",
        "range_not_satisfiable",
        "rolled_back",
        "shared_vaults_unavailable",
        "signature_invalid",
        "signing_key_invalid",
        "signing_key_missing",
        "state_invalid",
        "statement_invalid",
        "token_invalid",
        "too_deep",
        "too_many_keys",
        "transaction_failed",
        "transaction_refused",
        "unexpected",
        "unexpected_answer",
        "unsupported_media_type",
        "unsupported_suite",
        "unsupported_version",
        "url_refused",
        "vault_changed",
        "weak_password",
        "wrong_chain_key",
        "wrong_key",
      ],
      "130": [
        "cancelled",
      ],
      "2": [
        "address_invalid",
        "ambiguous",
        "confirmation_required",
        "end_invalid",
        "invalid_arguments",
        "not_configured",
        "validation_failed",
        "vault_required",
      ],
      "3": [
        "cursor_expired",
        "file_not_found",
        "invite_ended",
        "not_found",
        "transfer_unknown",
        "upload_expired",
        "vault_not_found",
      ],
      "4": [
        "invalid_credential",
        "session_ended",
        "shared_vault",
        "sign_in_ended",
        "signed_out",
        "wrong_credentials",
      ],
      "6": [
        "access_code_invalid",
        "budget_storage",
        "config_file",
        "development_origin",
        "email_unverified",
        "form_origin",
        "limit_reached",
        "membership_ended",
        "missing_scope",
        "not_a_member",
        "not_owner",
        "owner_only",
        "owner_proof_required",
        "path_not_allowed",
        "remote_server",
        "reveal_refused",
        "scope_owner_only",
        "scope_too_wide",
        "secret_in_file",
        "storage_quota",
        "vault_limited_key",
        "wrong_password",
      ],
      "7": [
        "address_conflict",
        "address_required",
        "already_created",
        "already_member",
        "chain_object_taken",
        "current_version",
        "default_vault",
        "destination_exists",
        "edit_refused",
        "email_exists",
        "folder_cycle",
        "generation_moved",
        "is_owner",
        "key_exists",
        "key_inactive",
        "name_exists",
        "names_outdated",
        "not_offered",
        "not_on_allowlist",
        "not_trashed",
        "offset_mismatch",
        "plan_unchanged",
        "precondition_failed",
        "public_vault",
        "still_on_allowlist",
        "subscription_required",
        "too_many_deletions",
        "trashed",
        "unsupported_tus_version",
        "usage_above_plan",
        "vault_not_empty",
        "webhook_inactive",
      ],
      "8": [
        "body_truncated",
        "budget_exceeded",
        "chain_stale",
        "chain_unavailable",
        "checksum_mismatch",
        "digest_mismatch",
        "disk_full",
        "idempotency_in_progress",
        "internal",
        "key_servers_behind",
        "key_servers_unavailable",
        "keys_forgotten",
        "locked",
        "provider_unavailable",
        "rate_limited",
        "request_timeout",
        "source_changed",
        "transaction_unknown",
        "tree_busy",
        "unavailable",
        "unreachable",
        "upload_locked",
      ],
    }
  `);
  for (const code of CODES) expect(nextStepOf(code)).not.toMatch(/\.$|\b(vault|file|status)_[a-z]+\b/);
});

it("each next step names commands and flags that exist, and doctor does not name itself [issue 48]", async () => {
  const flags = (await listCommands(ROUTES)).flatMap(({ command }) =>
    Object.keys(command.flags).map((name) => `--${kebab(name)}`),
  );
  const known = new Set([
    "--help",
    ...flags,
    ...Object.keys({ ...GLOBAL_FLAGS, ...LIST_FLAGS }).map((name) => `--${kebab(name)}`),
  ]);
  const groups = ["", "upload", "doctor", "webhooks", "invites", "agents", "api-keys", "sessions"];
  const steps = new Set(CODES.flatMap((code) => groups.map((group) => nextStepOf(code, group))));
  for (const step of steps) {
    const broken = (await printedCommands(step)).filter(({ problem }) => problem !== null);
    expect([step, broken]).toEqual([step, []]);
    for (const [flag] of step.matchAll(/--[a-z-]+/g)) expect([step, flag, known.has(flag)]).toEqual([step, flag, true]);
  }
});

it("never sends the reader of doctor to doctor, whatever a failure is about [issue 49]", () => {
  const { signal } = new AbortController();
  const circumstances = { interrupted: signal, timedOut: signal, group: "doctor" };
  for (const code of CODES)
    for (const details of [{}, { about: "vault" }, { about: "key" }, { nextStep: "Run coffer doctor." }] as const)
      expect(reportOf(new TaskFailure(code, details), circumstances).nextStep).not.toContain("coffer doctor");
});

const calm = { interrupted: new AbortController().signal, timedOut: new AbortController().signal };

it("a task's words for tools are not shown to people, a command's are", () => {
  const task = new TaskFailure("signed_out", { message: "This server found no key", nextStep: "Call status_check" });
  expect(reportOf(task, calm)).toMatchObject({
    message: "Nobody is signed in here",
    nextStep: "coffer login, or coffer signup for a new account",
    exit: EXIT.signIn,
  });
  const own = new CommandFailure("not_found", { message: "No such thing", nextStep: "coffer ls" });
  expect(reportOf(own, calm)).toMatchObject({ message: "No such thing", nextStep: "coffer ls", exit: EXIT.notFound });
});

it("what was interrupted or took too long says so, whatever was thrown", () => {
  expect(reportOf(new Error("x"), { ...calm, interrupted: AbortSignal.abort() })).toMatchObject({ exit: 130 });
  expect(reportOf(new Error("x"), { ...calm, timedOut: AbortSignal.abort() })).toMatchObject({
    code: "timeout",
    exit: 8,
  });
});

describe("what an error is about comes as data [issue 19]", () => {
  const sdk = (code: ClientErrorCode, more: object = {}) =>
    Object.assign(new SdkError("a sentence that nothing reads", { code, retryable: false, nextStep: "x" }), more);

  it.each<[string, unknown, object]>([
    [
      "a missing profile",
      Object.assign(new ProfileMissingError("work", "config.json"), { message: "changed" }),
      { message: "There is no profile work", nextStep: "coffer profiles list, or coffer login --profile work" },
    ],
    [
      "a profile with signs of terminals in its name",
      new ProfileMissingError('a" has no profile "\u001b[31mb', "config.json"),
      { message: expect.not.stringContaining("\u001b") },
    ],
    ["a closed keychain", sdk("keychain_unusable"), { nextStep: expect.stringContaining("--lost-keys") }],
    ["a public vault", sdk("public_vault"), { code: "public_vault", exit: EXIT.conflict }],
    [
      "fields of an input",
      new ContractError("request", "files.get", ["body.name: too long", "query.limit: too many"]),
      { message: "That cannot be used: name: too long; limit: too many", exit: EXIT.usage },
    ],
    [
      "an argument",
      new TaskFailure("invalid_arguments", { about: "name", message: "nothing reads this" }),
      { message: "--name is for a single file" },
    ],
  ])("%s", (_name, thrown, expected) => {
    expect(reportOf(thrown, calm)).toMatchObject(expected);
  });

  it("a vault that is not there is looked for among vaults, whatever the command", () => {
    const missing = (about: "vault" | "file") => new TaskFailure("not_found", { about, message: "nothing reads this" });
    const next = (about: "vault" | "file") => reportOf(missing(about), { ...calm, group: "webhooks" }).nextStep;
    expect([next("vault"), next("file")]).toEqual(["coffer vaults list", "coffer webhooks list"]);
  });
});
