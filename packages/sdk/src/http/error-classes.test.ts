/** One code arrives as one class, whoever found the failure: the service, or this client. */
import { replaceText } from "../storage/text-edits.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { CHAIN_ERRORS, ChainError, type ChainErrorCode } from "@coffer/chain";
import { api, ERROR_FACTS, type ErrorCode } from "@coffer/contract";
import { CryptoError } from "@coffer/crypto";
import { describe, expect, it } from "vitest";
import { BudgetError } from "./budget-error.ts";
import { createClient } from "../client.ts";
import {
  AbortError,
  ApiError,
  ConnectionError,
  ContractError,
  type ErrorFacts,
  IntegrityError,
  SdkError,
  SessionEndedError,
  TimeoutError,
  VaultError,
  type BudgetErrorCode,
  type ClientErrorCode,
  type VaultErrorCode,
} from "./errors.ts";
import { downloadFile } from "../node/files/download-file.ts";
import { requireFewDeletions } from "../node/folders/deletion-limit.ts";
import { FolderState } from "../node/folders/state.ts";
import { memoryStore } from "../store/memory-store.ts";
import { KeychainSecret } from "../node/config/keychain.ts";
import { ProfileMissingError } from "../node/config/profile-missing.ts";
import { resolveSettings } from "../node/config/settings.ts";
import { sessionCredentials } from "../connection/session-credentials.ts";
import { failure, ID, json, scripted, silence } from "./transport.test-kit.ts";
import { notResumable, sourceChanged } from "../transfer/source.ts";
import { NEXT_STEPS, vaultError } from "../shared-vaults/vault-error.ts";
import { generationMoved } from "../shared-vaults/service-view.ts";
import { toVaultError } from "../shared-vaults/vault-terms.ts";

const VAULT_CODES = Object.keys(NEXT_STEPS) as VaultErrorCode[];
const TOKENS = { accessToken: "a", refreshToken: "r", expiresIn: 900 };

/** The class of every code that is not the catalogue's alone. */
const CLASSES = {
  ...(Object.fromEntries(VAULT_CODES.map((code) => [code, VaultError])) as Record<VaultErrorCode, typeof VaultError>),
  session_ended: SessionEndedError,
  budget_exceeded: BudgetError,
  budget_storage: BudgetError,
  connection_failed: ConnectionError,
  redirected: ConnectionError,
  timeout: TimeoutError,
  aborted: AbortError,
  invalid_request: ContractError,
  contract_broken: ContractError,
  integrity_failed: IntegrityError,
  unknown_error: ApiError,
  configuration: SdkError,
  profile_missing: ProfileMissingError,
  keychain_unusable: SdkError,
  locked: SdkError,
  credential_missing: SdkError,
  source_changed: SdkError,
  destination_exists: SdkError,
  too_many_deletions: SdkError,
  not_resumable: SdkError,
  edit_refused: SdkError,
} satisfies Record<ClientErrorCode | BudgetErrorCode | "session_ended", unknown>;

const classOf = (code: ErrorFacts["code"]): unknown => (code in CLASSES ? CLASSES[code as ClientErrorCode] : ApiError);

const health = (...script: Parameters<typeof scripted>) => scripted(...script).client.call(api.system.health, {});
const BASE_URL = "http://coffer.test/";

/** Each code as this client finds it. */
const FOUND: Record<Exclude<ClientErrorCode, VaultErrorCode> | "session_ended", () => unknown> = {
  unknown_error: () => health([json({ error: "a proxy's" }, 502)], { retry: { limit: 0 } }),
  connection_failed: () => health([new TypeError("fetch failed")], { retry: { limit: 0 } }),
  redirected: () => health([new Response(null, { status: 307, headers: { location: "http://elsewhere.test/" } })]),
  timeout: () => health([silence]),
  aborted: () => scripted([silence]).client.call(api.system.health, {}, { signal: AbortSignal.abort() }),
  contract_broken: () => health([new Response("{", { status: 200 })]),
  invalid_request: () => scripted([json({})]).client.files.get(""),
  integrity_failed: async () => {
    const headers = { "content-length": "1", "repr-digest": `sha-256=:${"A".repeat(43)}=:`, etag: '"1"' };
    const download = await scripted([new Response("x", { headers })]).client.files.download(ID);
    return download.bytes();
  },
  configuration: () => createClient({ baseUrl: "nowhere" }),
  profile_missing: () => resolveSettings({ SERVICE_CONFIG_DIR: "/nowhere" }, { profile: "work" }),
  keychain_unusable: () => new KeychainSecret("nobody").reveal(),
  locked: async () => {
    const store = memoryStore();
    await using _holder = await FolderState.open(store, "sync");
    return await FolderState.open(store, "sync");
  },
  credential_missing: () => createClient({ baseUrl: BASE_URL, transport: silence }).account.get(),
  source_changed: () => sourceChanged("It changed"),
  destination_exists: async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "coffer-sdk-"));
    const done = () => rm(folder, { recursive: true });
    return downloadFile(scripted([json({})]).client, ID, folder).finally(done);
  },
  too_many_deletions: () => {
    requireFewDeletions({ direction: "up", removed: 1, sending: 0, receiving: 1 }, undefined);
  },
  not_resumable: notResumable,
  edit_refused: () => replaceText(scripted([]).client, "", { find: "", replacement: "" }),
  session_ended: async () => {
    const session = sessionCredentials(TOKENS);
    await session.end();
    return scripted([json({})], { credentials: session }).client.account.get();
  },
};

async function caught(raise: () => unknown): Promise<unknown> {
  try {
    return await raise();
  } catch (error) {
    return error;
  }
}

function requireOne(error: unknown, code: ErrorFacts["code"]): asserts error is SdkError {
  expect(error).toMatchObject({ code });
  expect((error as SdkError).constructor).toBe(classOf(code));
}

describe("a code has one class", () => {
  it.each(Object.keys(ERROR_FACTS) as ErrorCode[])("when the service answers %s", async (code) => {
    const answer = failure(code);
    // Of a budget that renews much later, a repeat is no use.
    answer.headers.set("retry-after", "1");
    const { client } = scripted([answer], { retry: { limit: 0 } });
    const error = await caught(() => client.call(api.system.health, {}));
    requireOne(error, code);
    const [status, retryable] = ERROR_FACTS[code];
    expect(error).toMatchObject({ status, retryable, requestId: ID });
    expect(error.toJSON()).toMatchObject({ status, requestId: ID });
  });

  it.each(Object.keys(FOUND) as (keyof typeof FOUND)[])("when this client finds %s", async (code) => {
    const error = await caught(FOUND[code]);
    requireOne(error, code);
    if (code !== "unknown_error") expect(error).toMatchObject({ status: null, requestId: null });
  });

  it.each(VAULT_CODES)("when this client finds %s in a shared vault", (code) => {
    const error = vaultError(code, "It failed");
    requireOne(error, code);
    expect(error).toMatchObject({ status: null, requestId: null });
    if (code in ERROR_FACTS) expect(error.retryable).toBe(ERROR_FACTS[code as keyof typeof ERROR_FACTS][1]);
  });

  it("where the chain, the key servers or the cipher say it first", () => {
    for (const code of Object.keys(CHAIN_ERRORS) as ChainErrorCode[])
      requireOne(toVaultError(new ChainError(code)), code);
    requireOne(toVaultError(new CryptoError("not_encrypted", "header", "no header")), "not_encrypted");
    requireOne(generationMoved(), "generation_moved");
  });
});

it("keeps what came with the answer through a repeat, and waits as long as it asks", async () => {
  const { client, clock } = scripted([new TypeError("lost"), failure("chain_unavailable", { "retry-after": "7" })], {
    retry: { limit: 2 },
  });
  const error = await caught(() => client.vaults.list());
  requireOne(error, "chain_unavailable");
  expect(error).toMatchObject({ status: 503, requestId: ID, retryAfterMs: 7000, perhapsDone: true });
  expect(clock.waits).toContain(7000);
});

it("takes a code with the second status that the catalogue gives it, and with no other one; a wrong clock is asked once", async () => {
  const answered = async (status: number, code: "clock_skew" | "unknown_error") => {
    const skewed = json({ error: "31 s" }, status, { "x-error-code": "clock_skew" });
    const { client, requests } = scripted([skewed], { retry: { limit: 2 } });
    requireOne(await caught(() => client.call(api.system.health, {})), code);
    return requests.length;
  };
  expect([await answered(400, "clock_skew"), await answered(503, "clock_skew")]).toEqual([1, 1]);
  await answered(500, "unknown_error");
});
