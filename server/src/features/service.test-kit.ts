/** TEST ONLY: the handlers on real drivers, called directly, with an account, callers and a clock that does not move. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseConfig, type Environment, type Settings } from "../config.ts";
import { openTestChain, type TestChain } from "../drivers/chain/chain.test-kit.ts";
import { openSuiSignatures } from "../drivers/message-signatures/sui.ts";
import type { Deps } from "../deps.ts";
import { ServiceError } from "../service-error.ts";
import { type CreationContext, type IncomingBytes, type Principal, Recorded, Reply } from "../handler.ts";
import { openTestBlobs, openTestDatabase } from "../storage.test-kit.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { Database } from "../ports/database.ts";
import { systemRandom } from "../ports/random.ts";
import { insertSession } from "./sessions/store.ts";
import { insertKey } from "./api-keys/store.ts";
import { createAccount } from "./account/store.ts";
import { deletionHandlers } from "./deletion/handlers.ts";
import { filesHandlers } from "./files/handlers.ts";
import { folderNamesHandlers } from "./folder-names/handlers.ts";
import { foldersHandlers } from "./folders/handlers.ts";
import { membersHandlers } from "./members/handlers.ts";
import { ownershipHandlers } from "./ownership/handlers.ts";
import { trashHandlers } from "./vaults/trash.ts";
import { uploadsHandlers } from "./files/upload/resumable/handlers.ts";
import { vaultKeysHandlers } from "./vault-keys/handlers.ts";
import { vaultsHandlers } from "./vaults/handlers.ts";

const TEST_ORIGIN = { requestId: "request", address: "127.0.0.1", userAgent: null };

export interface TestClock {
  now(): number;
  elapsed(): number;
  advance(milliseconds: number): void;
}

export interface TestService extends AsyncDisposable {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly clock: TestClock;
  readonly random: typeof systemRandom;
  readonly settings: Settings;
  readonly signatures: Deps["signatures"];
  /** What the handlers read, unless the service was opened without a chain. */
  readonly chain: TestChain;
  readonly owner: Principal;
  readonly handlers: ReturnType<typeof handlersOf>;
  /** Another account with its own vault, and perhaps with a chain address that it linked. */
  addAccount(plan?: string, chainAddress?: string): Promise<Principal>;
}

type Parts = Pick<TestService, "database" | "blobs" | "clock" | "random" | "settings" | "signatures"> &
  Pick<Deps, "chain">;

function handlersOf(deps: Parts) {
  return {
    vaults: vaultsHandlers(deps),
    members: membersHandlers(deps),
    ownership: ownershipHandlers(deps),
    deletion: deletionHandlers(deps),
    vaultKeys: vaultKeysHandlers(deps),
    folderNames: folderNamesHandlers(deps),
    folders: foldersHandlers(deps),
    files: filesHandlers(deps),
    uploads: uploadsHandlers(deps),
    trash: trashHandlers(deps),
  };
}

export interface TestServiceOptions {
  readonly environment?: Environment;
  readonly blobs?: BlobStore;
  readonly plan?: string;
  /** False: a server that is not set up to read the chain. */
  readonly hasChain?: boolean;
  /** Fewer rows in each transaction of a large act than a server writes. */
  readonly actRows?: number;
  /** Instead of one of the engine that the tests run on. */
  readonly openDatabase?: (directory: string) => Promise<Database>;
}

export async function openTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const directory = mkdtempSync(join(tmpdir(), "coffer-features-"));
  const database = await (options.openDatabase ?? openTestDatabase)(directory);
  const clock = createClock();
  const { settings: parsed } = parseConfig({ SERVICE_ENV: "development", ...options.environment });
  const { actRows = parsed.limits.actRows } = options;
  const settings = { ...parsed, limits: { ...parsed.limits, actRows } };
  const chain = openTestChain(clock);
  const deps: Parts = {
    database,
    blobs: options.blobs ?? (await openTestBlobs(database, clock)),
    clock,
    random: systemRandom,
    settings,
    signatures: openSuiSignatures(null, { clock }),
    chain: options.hasChain === false ? null : chain,
  };
  const addAccount: TestService["addAccount"] = (plan = "pro", chainAddress) =>
    insertAccount(database, clock.now(), { plan, chainAddress: chainAddress ?? null });
  return {
    ...deps,
    chain,
    owner: await addAccount(options.plan),
    handlers: handlersOf(deps),
    addAccount,
    async [Symbol.asyncDispose]() {
      await deps.blobs[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function createClock(): TestClock {
  let now = Date.UTC(2030, 0, 1);
  return {
    now: () => now,
    elapsed: () => now,
    advance: (milliseconds) => {
      now += milliseconds;
    },
  };
}

async function insertAccount(
  database: Database,
  now: number,
  { plan, chainAddress }: { plan: string; chainAddress: string | null },
): Promise<Principal> {
  const id = randomUUID();
  const row = {
    id,
    email: `${id}@example.test`,
    email_verified: 0,
    name: null,
    idp_id: null,
    chain_address: chainAddress,
    chain_address_source: null,
    plan,
    default_vault_id: randomUUID(),
    usage_bytes: 0,
    usage_files: 0,
    usage_version_bytes: 0,
    sequence: 0,
    chain_public_key: null,
    password_hash: null,
    idp_issuer: null,
    zklogin_salt: null,
    changes_hash: "0".repeat(64),
    created_at: now,
    updated_at: now,
  };
  await database.transaction((transaction) => createAccount(transaction, row));
  const keyId = await insertTestKey(database, id, now);
  return {
    kind: "api-key",
    accountId: id,
    keyId,
    sessionId: null,
    name: "test",
    accessLevel: "owner",
    scopes: null,
    vaultIds: null,
    chainAddress: null,
    expiresAt: null,
    budgets: [],
    origin: TEST_ORIGIN,
  };
}

/** The key of the account's owner: what a caller does is refused once its key has ended. */
export async function insertTestKey(database: Database, accountId: string, now: number): Promise<string> {
  const id = randomUUID();
  await insertKey(database, {
    id,
    account_id: accountId,
    name: "test",
    hash: id,
    prefix: "cof_test",
    last4: "test",
    created_at: now,
    scopes_json: null,
    vault_ids_json: null,
    budgets_json: null,
    chain_address: null,
    chain_public_key: null,
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
  });
  return id;
}

/** A session of the caller's account. */
export async function insertTestSession(
  { database, clock }: Pick<TestService, "database" | "clock">,
  { accountId }: Principal,
): Promise<string> {
  const id = randomUUID();
  const now = clock.now();
  await insertSession(database, {
    id,
    account_id: accountId,
    method: "password",
    user_agent: null,
    created_at: now,
    last_used_at: now,
    expires_at: now + 3_600_000,
    ends_at: now + 3_600_000,
    revoked_at: null,
  });
  return id;
}

/** The caller's context. `recheck` passes unless another is given. */
export function contextOf(
  principal: Principal,
  more: { recheck?: () => Promise<void> } = {},
): CreationContext<Principal> {
  const watches: (() => Promise<void>)[] = [];
  return {
    principal,
    requestId: TEST_ORIGIN.requestId,
    origin: TEST_ORIGIN,
    serviceOrigin: "http://127.0.0.1",
    signal: new AbortController().signal,
    async recheck() {
      await more.recheck?.();
      for (const check of watches) await check();
    },
    watch: (check) => void watches.push(check),
    record: (_transaction, answer) =>
      Promise.resolve(new Recorded(answer instanceof Reply ? answer : new Reply(answer))),
  };
}

/** A request body that arrives in pieces. `length` null: chunked, the sender does not say how much comes. */
export function bodyOf(
  bytes: Uint8Array | string,
  more: { contentType?: string | null; chunk?: number; length?: number | null } = {},
): IncomingBytes {
  const buffer = Buffer.from(bytes as Uint8Array);
  const { contentType = null, chunk = 1000, length = buffer.length } = more;
  return { stream: pieces(buffer, chunk), length, contentType };
}

export interface StoredIn {
  readonly vaultId?: string;
  readonly folderId?: string;
}

/** A file of five bytes, stored by the service's owner. */
export async function storeFile({ handlers, owner }: TestService, name: string, place: StoredIn = {}) {
  const input = { query: { name, ...place }, headers: {}, body: bodyOf("12345") };
  return (await handlers.files.upload(input, contextOf(owner))).reply.body.file;
}

async function* pieces(buffer: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < buffer.length; at += size) yield await Promise.resolve(buffer.subarray(at, at + size));
}

/** The code of the error that the promise rejects with, "ok" when it resolves. Other errors pass through. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "ok";
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

/** How many of each outcome. */
export async function outcomes(promises: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const codes = await Promise.all(promises.map(codeOf));
  return codes.reduce<Record<string, number>>((counts, code) => ({ ...counts, [code]: (counts[code] ?? 0) + 1 }), {});
}

/** What an answer holds, whether or not it says more than its body. */
export function answerOf<Body>(
  answer: Body | Reply<Body> | Recorded<Body> | Recorded<undefined> | Reply<undefined>,
): Body {
  const reply = answer instanceof Recorded ? answer.reply : answer;
  const body = reply instanceof Reply ? reply.body : reply;
  if (body === undefined) throw new Error("the answer has no body");
  return body;
}
