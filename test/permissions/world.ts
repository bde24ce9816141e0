/** A server in this process with two accounts, keys of every kind, and fresh objects on request. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderKey, type Scope } from "@coffer/contract";
import { fetchHandler, parseConfig, startServer } from "@coffer/server";
import { openSqlite } from "@coffer/server/drivers/database/sqlite";
import type { Database } from "@coffer/server/ports/database";

export interface Call {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: string;
}

export interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; null when it is none. */
  readonly fields: Readonly<Record<string, unknown>> | null;
}

export interface KeyOptions {
  readonly scopes?: readonly Scope[] | null;
  readonly vaultIds?: readonly string[] | null;
  readonly agent?: boolean;
  readonly expired?: boolean;
  readonly revoked?: boolean;
}

export interface TestAccount {
  readonly id: string;
  /** The raw key of the owner, with all rights. */
  readonly key: string;
  readonly defaultVaultId: string;
}

export interface World extends AsyncDisposable {
  readonly owner: TestAccount;
  readonly stranger: TestAccount;
  /** `key` null: no Authorization header, which in development is the first user. */
  send(call: Call, key: string | null): Promise<Answer>;
  /** Writes a key's row past the service: agents' and expired keys cannot be made through it yet. */
  insertKey(account: TestAccount, options?: KeyOptions): Promise<string>;
}

const HOST = "http://localhost";
/** Any address that is not the account's own makes an agent's key (specification §2.6). */
const AGENT_ADDRESS = `0x${"a".repeat(64)}`;

export async function openWorld(environment: Readonly<Record<string, string>>): Promise<World> {
  const stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "coffer-permissions-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const variables = { SERVICE_DATA_DIR: directory, SERVICE_PORT: "0", SERVICE_LOG_LEVEL: "silent", ...environment };
  const server = await startServer(parseConfig(variables));
  stack.defer(() => server.close());
  const database = stack.use(await openSqlite({ path: join(directory, "coffer.sqlite"), reserveBytes: 0 }));
  const handle = fetchHandler(server.app);
  const send = async (call: Call, key: string | null): Promise<Answer> =>
    readAnswer(await handle(toRequest(call, key)));
  return {
    owner: await signUp(send),
    stranger: await signUp(send),
    send,
    insertKey: (account, options = {}) => insertKey(database, account, options),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function toRequest({ method, path, headers, json, bytes }: Call, key: string | null): Request {
  const all = new Headers(headers);
  if (key !== null) all.set("authorization", `Bearer ${key}`);
  if (json !== undefined) all.set("content-type", "application/json");
  const body = json === undefined ? bytes : JSON.stringify(json);
  // Fetch has no Content-Length before sending; a real client's connection does.
  if (body !== undefined) all.set("content-length", String(Buffer.byteLength(body)));
  return new Request(HOST + path, { method, headers: all, ...(body === undefined ? {} : { body }) });
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
  return {
    status: response.status,
    code: response.headers.get("x-error-code"),
    headers: response.headers,
    text,
    fields: isJson ? JSON.parse(text) : null,
  };
}

async function signUp(send: World["send"]): Promise<TestAccount> {
  const email = `${randomUUID()}@example.test`;
  const { fields } = await send({ method: "POST", path: "/api/auth/dev-signup", json: { email } }, null);
  const key = String(fields?.["apiKey"]);
  const vaults = await send({ method: "GET", path: "/api/vaults" }, key);
  const [vault] = vaults.fields?.["vaults"] as { id: string }[];
  return { id: String(fields?.["id"]), key, defaultVaultId: String(vault?.id) };
}

async function insertKey(database: Database, account: TestAccount, options: KeyOptions): Promise<string> {
  const text = renderKey(randomBytes(32));
  const json = (list: readonly string[] | null | undefined): string | null => (list ? JSON.stringify(list) : null);
  const row = {
    id: randomUUID(),
    account_id: account.id,
    name: "test",
    hash: createHash("sha256").update(text).digest("hex"),
    prefix: "cof_",
    last4: text.slice(-4),
    scopes_json: json(options.scopes),
    vault_ids_json: json(options.vaultIds),
    chain_address: options.agent === true ? AGENT_ADDRESS : null,
    expires_at: options.expired === true ? 1 : null,
    last_used_at: null,
    revoked_at: options.revoked === true ? 1 : null,
    created_at: Date.now(),
  };
  await database.run(database.build.insertInto("api_keys").values(row));
  return text;
}
