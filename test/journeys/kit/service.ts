/** A server of its own for one test file, an owner on it, and the short ways to talk to it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { engineSettings } from "../../kit/engine-settings.ts";
import { createKey, freshEmail, signUp, type NewAccount } from "./account.ts";
import { fieldsAt, objectIn, textIn, type Fields } from "./answers.ts";
import { newChainKey, type ChainKey } from "./chain.ts";
import { send, type Answer, type Call } from "./http.ts";
import { makeAccessCode, type SignedUp, signUpWithCode } from "./identity.ts";
import { productionSecrets } from "./production.ts";
import { startServerProcess, type ServerProcess } from "./server-process.ts";
import { openWebhookSink, type WebhookSink } from "./webhook-sink.ts";

/** Filled before the first test of the file. */
export interface Service {
  readonly server: ServerProcess;
  readonly dataDirectory: string;
  /** The environment that the server was started with; operator commands take the same. */
  readonly variables: Readonly<Record<string, string>>;
  /** The first account of the database. */
  readonly owner: NewAccount;
  /** A request with the owner's key, unless `call` brings its own; `key: ""` sends none. */
  ask(method: string, path: string, call?: Call): Promise<Answer>;
  /** The account of the key, the owner's when there is none. */
  account(key?: string): Promise<Fields>;
  makeVault(name: string): Promise<string>;
  makeFolder(name: string, more?: object): Promise<Fields>;
  /** `query` begins with an ampersand. */
  upload(name: string, body: Uint8Array, query?: string): Promise<Fields>;
  /** Invites an agent and redeems with a new chain key. */
  inviteAgent(rights?: object): Promise<Agent>;
  /** A sign-up access code of many uses, made by the operator's command at the first call. */
  readonly accessCode: () => Promise<string>;
  /** A new account with a password. */
  join(): Promise<SignedUp>;
}

export interface Agent {
  readonly key: string;
  readonly keyId: string;
  readonly chain: ChainKey;
}

type Variables = Readonly<Record<string, string>>;

/** A function is asked when the server is about to start: by then the hooks before it have run. */
type Given = Variables | (() => Variables);

/** Starts a development server before the tests of a file and stops it after them. */
export function useService(variables: Given = {}): () => Service {
  return prepare({ SERVICE_ENV: "development" }, variables, ({ server }) => signUp(server.baseUrl));
}

/** The same in production, with its rate limits; the owner signed up with an access code and made the key. */
export function useProductionService(variables: Given = {}): () => Service {
  return prepare(productionSecrets(), variables, async (service) => {
    const email = freshEmail();
    const { id, accessToken } = await signUpWithCode(service.server.baseUrl, await service.accessCode(), { email });
    const { key } = await createKey(service.server.baseUrl, accessToken, { name: "owner" });
    return { id, email, apiKey: key };
  });
}

/** A receiver of webhooks for the tests of a file. */
export function useWebhookSink(): WebhookSink {
  const sink = {} as WebhookSink;
  beforeAll(async () => {
    Object.assign(sink, await openWebhookSink());
    return () => sink[Symbol.asyncDispose]();
  });
  return sink;
}

function prepare(fixed: Variables, given: Given, makeOwner: (service: Service) => Promise<NewAccount>): () => Service {
  let service: Service | null = null;
  const cleanup = new AsyncDisposableStack();
  beforeAll(async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), "coffer-acceptance-"));
    cleanup.defer(() => rm(dataDirectory, { recursive: true, force: true }));
    const variables = typeof given === "function" ? given() : given;
    const engines = await engineSettings(dataDirectory);
    const environment = { ...fixed, ...engines, ...variables, SERVICE_DATA_DIR: dataDirectory };
    const server = cleanup.use(await startServerProcess(environment));
    const nobody = openService(server, environment, { id: "", email: "", apiKey: "" });
    service = openService(server, environment, await makeOwner(nobody), nobody.accessCode);
  });
  afterAll(() => cleanup.disposeAsync(), 60_000);
  return () => {
    if (service === null) throw new Error("the service is used before its tests began");
    return service;
  };
}

function openService(
  server: ServerProcess,
  variables: Variables & { readonly SERVICE_DATA_DIR: string },
  owner: NewAccount,
  accessCode = onDemand(() => makeAccessCode(variables, { uses: 1000 })),
): Service {
  const ask: Service["ask"] = (method, path, { key = owner.apiKey, ...call } = {}) =>
    send(server.baseUrl, path, { method, ...call, ...(key === "" ? {} : { key }) });
  const create = async (path: string, body: object, name: string): Promise<Fields> =>
    objectIn(fieldsAt(await ask("POST", path, { body }), 201), name);
  return {
    server,
    dataDirectory: variables.SERVICE_DATA_DIR,
    variables,
    owner,
    ask,
    accessCode,
    account: async (key = owner.apiKey) =>
      objectIn(fieldsAt(await ask("GET", "/api/account", { key }), 200), "account"),
    makeVault: async (name) => textIn(await create("/api/vaults", { name, type: "public" }, "vault"), "id"),
    makeFolder: (name, more = {}) => create("/api/folders", { name, ...more }, "folder"),
    join: async () => signUpWithCode(server.baseUrl, await accessCode(), { email: freshEmail() }),
    upload: (name, body, query = "") => create(`/api/files?name=${encodeURIComponent(name)}${query}`, body, "file"),
    async inviteAgent(rights = {}) {
      const invited = fieldsAt(await ask("POST", "/api/auth/invites", { body: { name: "agent", ...rights } }), 201);
      const chain = newChainKey(server.baseUrl);
      const body = await chain.redeeming(textIn(invited, "code"));
      const redeemed = fieldsAt(await ask("POST", "/api/auth/invites/redeem", { key: "", body }), 201);
      return { key: textIn(redeemed, "key"), keyId: textIn(redeemed, "keyId"), chain };
    },
  };
}

function onDemand<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () => (made ??= make());
}
