/** Our server as a program, with an account to use; and the same beside a local chain, with a public and a shared vault. */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { parseNetworkConfiguration, type NetworkConfiguration } from "@coffer/chain";
import { nodePlatform } from "@coffer/crypto/node";
import { chainKeySigner, createClient, generateChainKey, type Client } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { secondsOf, stopChild } from "./machine.ts";

const MAIN = new URL("../../server/src/main.ts", import.meta.url).pathname;
const LOCALNET = new URL("../localnet/src/main.ts", import.meta.url).pathname;
const COFFER = new URL("../../packages/cli/dist/main.js", import.meta.url).pathname;

/** The server's first line names Node's options; this names the Node. */
const PATH = [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
/** Limits count and answer as in production, and no benchmark reaches them. */
const LIMITS = {
  SERVICE_RATE_GENERAL: "100000000",
  SERVICE_RATE_GENERAL_BURST: "100000000",
  SERVICE_RATE_SIGNUP: "100000000",
  SERVICE_FREE_FILE_BYTES: String(2 ** 40),
  SERVICE_FREE_STORAGE_BYTES: String(2 ** 40),
};

type Settings = Readonly<Record<string, string>>;

interface Started extends AsyncDisposable {
  readonly baseUrl: string;
  readonly pid: number;
}

export interface Service extends Started {
  /** An API key with all rights, of the first account. */
  readonly apiKey: string;
  /** One with the scope files:read alone. */
  readonly readKey: string;
}

/** A server in production mode with its default log, written to a file. `settings`: more `SERVICE_…` variables. */
export async function startService(directory: string, settings: Settings = {}): Promise<Service> {
  const environment = {
    PATH,
    ...LIMITS,
    SERVICE_ENV: "production",
    SERVICE_PORT: "0",
    SERVICE_DATA_DIR: join(directory, "data"),
    SERVICE_MASTER_KEY: randomBytes(32).toString("hex"),
    SERVICE_JWT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    SERVICE_APP_URL: "https://app.coffer.example",
    SERVICE_SHUTDOWN_NOTICE_SECONDS: "0",
    ...settings,
  };
  const server = await launch(environment, directory);
  try {
    const { stdout } = await promisify(execFile)(MAIN, ["access-codes", "create", "--json"], { env: environment });
    const { code: accessCode } = JSON.parse(stdout) as { code: string };
    const account = { email: "bench@example.com", password: "granite otter 71 lanterns", accessCode };
    const { accessToken } = await post<{ accessToken: string }>(server, "/api/auth/signup", null, account);
    const makeKey = async (name: string, scopes?: readonly string[]) =>
      (await post<{ key: string }>(server, "/api/auth/api-keys", accessToken, { name, scopes })).key;
    return { ...server, apiKey: await makeKey("all"), readKey: await makeKey("reader", ["files:read"]) };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** Of development, whose webhooks may go to addresses of this machine. */
export async function startWebhookService(directory: string): Promise<Omit<Service, "readKey">> {
  const environment = {
    PATH,
    ...LIMITS,
    SERVICE_ENV: "development",
    SERVICE_PORT: "0",
    SERVICE_DATA_DIR: join(directory, "data"),
    SERVICE_WEBHOOK_ENDPOINT_RATE: "1000000",
    SERVICE_MAX_WEBHOOKS: "100",
  };
  const server = await launch(environment, directory);
  return { ...server, apiKey: await signUp(server) };
}

/** One more account of a development server; answers its API key. */
export async function signUp(server: Pick<Service, "baseUrl">): Promise<string> {
  const email = `bench-${randomBytes(8).toString("hex")}@example.com`;
  return (await post<{ apiKey: string }>(server, "/api/auth/dev-signup", null, { email })).apiKey;
}

async function launch(env: NodeJS.ProcessEnv, directory: string): Promise<Started> {
  const path = join(directory, "server.log");
  const log = openSync(path, "w");
  const child = spawn(MAIN, { env, stdio: ["ignore", "ignore", log] });
  closeSync(log);
  for (let attempt = 0; attempt < 1200 && child.exitCode === null; attempt += 1) {
    const text = readFileSync(path, "utf8");
    const baseUrl = /listens on (http:\S+)/.exec(text)?.[1];
    // The clean-up of the start must not run into the measurement.
    if (baseUrl !== undefined && text.includes('"start-up"'))
      return { baseUrl, pid: child.pid ?? 0, [Symbol.asyncDispose]: () => stopChild(child) };
    await pause(50);
  }
  await stopChild(child);
  throw new Error(`The server did not start:\n${readFileSync(path, "utf8")}`);
}

async function post<Body>(
  { baseUrl }: Pick<Service, "baseUrl">,
  path: string,
  credential: string | null,
  body: object,
): Promise<Body> {
  const authorization = credential === null ? {} : { authorization: `Bearer ${credential}` };
  const headers = { "content-type": "application/json", ...authorization };
  const answer = await fetch(baseUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${String(answer.status)}: ${await answer.text()}`);
  return (await answer.json()) as Body;
}

/** In production the server takes no local chain by its name; what signatures name is all that this decides. */
const PROOFS = "testnet";

/** What a client in another process is made of; all of it is a benchmark's own, and no secret. */
export interface ClientSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly chainKey: string;
  readonly network: NetworkConfiguration;
}

/** Of one person: `public` has no chain key, `shared` opens shared vaults. */
export async function openClients({ apiKey, baseUrl, chainKey, network }: ClientSettings) {
  const signer = await chainKeySigner(chainKey);
  const service = { baseUrl, credentials: { apiKey }, network: PROOFS } as const;
  return {
    signer,
    public: createClient(service),
    shared: createClient({ ...service, sharedVaults: sharedVaults({ signer, network, platform: nodePlatform }) }),
  };
}

export interface SharedService extends AsyncDisposable {
  readonly service: Service;
  readonly settings: ClientSettings;
  readonly clients: { readonly public: Client; readonly shared: Client };
  /** Ids of the vaults. */
  readonly vaults: { readonly public: string; readonly shared: string };
  /** Of programs that are this person: without the chain key, and with it. */
  readonly environments: { readonly public: NodeJS.ProcessEnv; readonly shared: NodeJS.ProcessEnv };
  /** Runs the built `coffer`; returns its seconds. `opens`: with the chain key that opens shared vaults. */
  readonly coffer: (words: readonly string[], opens?: boolean, environment?: NodeJS.ProcessEnv) => Promise<number>;
}

/** The server, and the chain with its key servers, are processes of their own; the clients are this one. */
export async function startSharedService(directory: string): Promise<SharedService> {
  if (!existsSync(COFFER)) throw new Error("Run npm run build first.");
  await using opening = new AsyncDisposableStack();
  const localnet = spawn(process.execPath, ["--conditions=coffer-source", LOCALNET], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  opening.defer(() => stopChild(localnet));
  const [line] = (await once(createInterface(localnet.stdout), "line")) as [string];
  const network = parseNetworkConfiguration(JSON.parse(line));
  const service = opening.use(
    await startService(directory, {
      SERVICE_CHAIN_NETWORK: PROOFS,
      SERVICE_CHAIN_URL: network.grpcUrl,
      SERVICE_CHAIN_PACKAGE: network.originalPackageId,
      SERVICE_CHAIN_ID: network.chainId,
    }),
  );
  const chainKey = (await generateChainKey()).privateKey.reveal();
  const settings = { baseUrl: service.baseUrl, apiKey: service.apiKey, chainKey, network };
  const clients = await openClients(settings);
  await clients.shared.account.linkChain(clients.signer);
  const vaults = {
    public: (await clients.shared.vaults.create({ name: "bench-public", type: "public" })).id,
    shared: (await clients.shared.vaults.create({ name: "bench-shared", type: "shared" })).id,
  };
  const environments = environmentsOf(directory, settings);
  const all = opening.move();
  return {
    service,
    settings,
    clients,
    vaults,
    environments,
    coffer: (words, opens = false, environment = {}) =>
      secondsOf(process.execPath, [COFFER, ...words], {
        ...environments[opens ? "shared" : "public"],
        ...environment,
      }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Of programs; `directory` gets their home. Whose environment has the chain key opens shared vaults. */
function environmentsOf(directory: string, { apiKey, baseUrl, chainKey, network }: ClientSettings) {
  const home = join(directory, "home");
  mkdirSync(home, { mode: 0o700 });
  const networkFile = join(directory, "network.json");
  writeFileSync(networkFile, JSON.stringify(network));
  const plain = { PATH, HOME: home, SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: apiKey };
  return {
    public: plain,
    shared: { ...plain, SERVICE_CHAIN_PRIVATE_KEY: chainKey, SERVICE_NETWORK_FILE: networkFile },
  };
}
