/** A server on embedded defaults, a local chain with its key servers, and an account on both. */
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SharedVaults } from "@coffer/sdk";
import { fileStore, openSharedVaults, storeDirectory } from "@coffer/sdk/node";
import { parseConfig, startServer } from "@coffer/server";
import { ensureAccount } from "./account.ts";
import { openLocalNetwork, type LocalNetwork } from "./local-network.ts";
import type { ScaledService } from "./scale/service.ts";

export interface StackOptions {
  /** The directory of everything. Absent: a temporary folder that goes with the stack. */
  readonly dataDirectory?: string;
  /** 0 (default): any free port. */
  readonly port?: number;
  /** Limits and log level of the server, by their `SERVICE_…` names. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** PostgreSQL, an S3 store and two server processes behind a proxy, instead of one server in this process. */
  readonly isScaled?: boolean;
}

/** Where a service keeps what it was given. */
export interface Disk {
  readonly directory: string;
  /** The whole of it is a database, which may well hold common words of a text. */
  readonly isDatabase: boolean;
}

/** A running stack. */
export interface Stack extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly baseUrl: string;
  /** The owner's key. */
  readonly apiKey: string;
  /** Format of config.json, mode 0600; holds the owner's API key and chain key, this base URL and the path of the network. */
  readonly credentialsFile: string;
  /** Mode 0600: what `SERVICE_NETWORK_FILE` takes. */
  readonly networkFile: string;
  /** What `createClient` takes so that the owner's client opens shared vaults. */
  readonly sharedVaults: SharedVaults;
  readonly dataDirectory: string;
  readonly disks: readonly Disk[];
  /** The account was made by this start; false: an earlier run made it. */
  readonly newAccount: boolean;
  /** What the local chain and its key servers added to the start, in seconds. */
  readonly networkSeconds: number;
  /** Stops the server and the chain; a temporary data folder is removed. A second call waits for the same end. */
  close(): Promise<void>;
}

/**
 * Starts a local chain and a server in this process, and signs up its owner once. On the same data directory all of it is there again: the
 * account, the chain, the shared vaults. Rejects with the server's error, for one `EADDRINUSE`.
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const temporary = options.dataDirectory === undefined;
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), "coffer-stack-")));
  const opened: { close: () => Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const each of opened.splice(0).reverse()) await each.close();
    if (temporary) await rm(dataDirectory, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await makeDirectory(dataDirectory);
    const began = performance.now();
    const network = await openLocalNetwork(dataDirectory);
    opened.push(network);
    const networkSeconds = (performance.now() - began) / 1000;
    const service = await startService(serverEnvironment(dataDirectory, network, options), options);
    opened.push(service);
    const { baseUrl } = service;
    const disks = [{ directory: dataDirectory, isDatabase: false }, ...service.disks];
    const { file: networkFile, borrowed } = network;
    const account = await ensureAccount({ baseUrl, dataDirectory, networkFile, borrowed });
    return await describeStack({ baseUrl, dataDirectory, disks, networkFile, networkSeconds }, account, close);
  } catch (error) {
    await close();
    throw error;
  }
}

type Service = Pick<ScaledService, "baseUrl" | "disks" | "close">;

async function startService(
  environment: Readonly<Record<string, string | undefined>>,
  { isScaled, port }: StackOptions,
): Promise<Service> {
  if (isScaled === true) {
    const { openScaledService } = await import("./scale/service.ts");
    return openScaledService(environment, port ?? 0);
  }
  const server = await startServer(parseConfig(environment));
  return { baseUrl: server.baseUrl, disks: [], close: () => server.close() };
}

/** The data directory cannot be made; the message says what to do. */
export class DataDirectoryError extends Error {
  override readonly name = "DataDirectoryError";
}

/** One that was there keeps its mode: it may be a directory that others use, such as /tmp. */
async function makeDirectory(path: string): Promise<void> {
  try {
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    if (made !== undefined) await chmod(path, 0o700);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown error";
    throw new DataDirectoryError(`The data directory cannot be made: ${why}. Name another with --data`, { cause });
  }
}

function serverEnvironment(
  dataDirectory: string,
  network: LocalNetwork,
  { port, environment }: StackOptions,
): Record<string, string | undefined> {
  return {
    SERVICE_LOG_LEVEL: "warn",
    // What receives webhooks is on this machine as well: nobody has to be spared.
    SERVICE_WEBHOOK_ENDPOINT_RATE: "2000",
    ...environment,
    SERVICE_ENV: "development",
    SERVICE_HOST: "127.0.0.1",
    SERVICE_PORT: String(port ?? 0),
    SERVICE_DATA_DIR: dataDirectory,
    SERVICE_CHAIN_URL: network.url,
    SERVICE_CHAIN_PACKAGE: network.packageId,
    SERVICE_CHAIN_ID: network.chainId,
  };
}

type Started = Pick<Stack, "baseUrl" | "dataDirectory" | "disks" | "networkFile" | "networkSeconds">;

async function describeStack(
  started: Started,
  account: Awaited<ReturnType<typeof ensureAccount>>,
  stop: () => Promise<void>,
): Promise<Stack> {
  const { chainPrivateKey } = account;
  const sharedVaults = await openClientSide(started, "owner", chainPrivateKey);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= stop());
  return {
    ...started,
    apiKey: account.apiKey.reveal(),
    credentialsFile: account.credentialsFile,
    newAccount: account.isNew,
    sharedVaults,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The owner, and the agents of agent.ts. */
type ClientName = "owner" | "agent" | "demonstration";

type ChainKey = Parameters<typeof openSharedVaults>[0]["chainPrivateKey"];

/** Shared vaults for one of the clients of a stack; its pins are kept with the stack's data, not in the user's own configuration. */
export async function openClientSide(
  { dataDirectory, networkFile }: Pick<Stack, "dataDirectory" | "networkFile">,
  who: ClientName,
  chainPrivateKey: NonNullable<ChainKey>,
): Promise<SharedVaults> {
  const store = fileStore(storeDirectory({ SERVICE_CONFIG_DIR: clientDirectory(dataDirectory, who) }));
  const options = await openSharedVaults({ chainPrivateKey, networkFile }, store);
  if (options === null) throw new TypeError("there is a chain key and a network");
  return options;
}

/** What a client keeps between runs: `SERVICE_CONFIG_DIR` of its tool server. */
export function clientDirectory(dataDirectory: string, who: ClientName): string {
  return join(dataDirectory, "client", who);
}
