/** A server in this process with two accounts, credentials of every kind, and fresh objects on request. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { engineSettings } from "../../kit/engine-settings.ts";
import { recordAnswer, recordRequest, requireClean } from "../../kit/secret-recorder.ts";
import { fetchHandler, parseConfig, startServer } from "@coffer/server";
import { openDatabase } from "@coffer/server/storage";
import { openRows, PASSWORD, type Rows } from "./rows.ts";

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

export interface TestAccount {
  readonly id: string;
  readonly email: string;
  /** The raw key of the owner, with all rights. */
  readonly key: string;
  readonly defaultVaultId: string;
}

export interface World extends AsyncDisposable {
  /** The first user of the database; signed up with {@link PASSWORD}, as the others did. */
  readonly owner: TestAccount;
  readonly stranger: TestAccount;
  /** Its password and e-mail may be changed at will. */
  readonly visitor: TestAccount;
  /** Rows that have no public way, such as a key that has expired. */
  readonly rows: Rows;
  /** `credential` null: no Authorization header, which in development is the first user. */
  send(call: Call, credential: string | null): Promise<Answer>;
}

const HOST = "http://localhost";

export async function openWorld(environment: Readonly<Record<string, string>>): Promise<World> {
  const stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "coffer-permissions-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const lines: Uint8Array[] = [];
  stack.defer(() => requireClean(directory, Buffer.concat(lines)));
  const places = { SERVICE_DATA_DIR: directory, ...(await engineSettings(directory)) };
  const config = parseConfig({ ...places, SERVICE_PORT: "0", ...environment });
  const server = await startServer(config, { logSink: { write: (line) => void lines.push(line.slice()) } });
  stack.defer(() => server.close());
  const database = stack.use(await openDatabase(config));
  const handle = fetchHandler(server.app);
  const send = async (call: Call, credential: string | null): Promise<Answer> =>
    readAnswer(await handle(toRequest(call, credential)));
  const rows = openRows(database, config.secrets.jwtKeys[0]!);
  return {
    owner: await signUp(send, rows),
    stranger: await signUp(send, rows),
    visitor: await signUp(send, rows),
    rows,
    send,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function toRequest({ method, path, headers, json, bytes }: Call, credential: string | null): Request {
  const all = new Headers(headers);
  if (credential !== null) all.set("authorization", `Bearer ${credential}`);
  if (json !== undefined) all.set("content-type", "application/json");
  const body = json === undefined ? bytes : JSON.stringify(json);
  // Fetch has no Content-Length before sending; a real client's connection does.
  if (json !== undefined) recordRequest(body ?? "");
  if (body !== undefined) all.set("content-length", String(Buffer.byteLength(body)));
  return new Request(HOST + path, { method, headers: all, ...(body === undefined ? {} : { body }) });
}

async function readAnswer(response: Response): Promise<Answer> {
  const isFeed = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const text = isFeed ? await readBeginning(response) : await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
  if (isJson) recordAnswer(text);
  return {
    status: response.status,
    code: response.headers.get("x-error-code"),
    headers: response.headers,
    text,
    fields: isJson ? JSON.parse(text) : null,
  };
}

/** A feed has no end. The next request must come in another turn: within one, rows written past the service do not show. */
async function readBeginning(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = (await reader?.read()) ?? {};
  await reader?.cancel();
  await nextTurn();
  return value;
}

async function signUp(send: World["send"], rows: Rows): Promise<TestAccount> {
  const email = `${crypto.randomUUID()}@example.test`;
  const json = { email, password: PASSWORD, accessCode: await rows.accessCode() };
  const signedUp = await send({ method: "POST", path: "/api/auth/signup", json }, null);
  if (signedUp.status !== 201) throw new Error(`sign-up answered ${signedUp.status} ${signedUp.text}`);
  const { id } = signedUp.fields?.["user"] as { id: string };
  // Billing asks for it (specification §5.5).
  await rows.verifyEmail(id);
  const made = { method: "POST", path: "/api/auth/api-keys", json: { name: "owner" } };
  const key = String((await send(made, String(signedUp.fields?.["accessToken"]))).fields?.["key"]);
  const vaults = await send({ method: "GET", path: "/api/vaults" }, key);
  const [vault] = vaults.fields?.["vaults"] as { id: string }[];
  return { id, email, key, defaultVaultId: String(vault?.id) };
}
