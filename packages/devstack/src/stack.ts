/** A server on embedded defaults, and an account on it. */
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseConfig, startServer, type RunningServer } from "@coffer/server";
import { ensureAccount } from "./account.ts";

export interface StackOptions {
  /** Where everything is kept. Absent: a temporary folder that goes with the stack. */
  readonly dataDirectory?: string;
  /** 0 (default): any free port. */
  readonly port?: number;
  /** Limits and log level of the server, by their `SERVICE_…` names. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A running stack. */
export interface Stack extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly baseUrl: string;
  /** The owner's key. */
  readonly apiKey: string;
  /** Format of config.json, mode 0600; holds the key and this base URL. */
  readonly credentialsFile: string;
  readonly dataDirectory: string;
  /** The account was made by this start; false: an earlier run made it. */
  readonly newAccount: boolean;
  /** Stops the server; a temporary data folder is removed. A second call waits for the same end. */
  close(): Promise<void>;
}

/** Starts a server in this process and signs up its owner once. Rejects with the server's error, for one `EADDRINUSE`. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const temporary = options.dataDirectory === undefined;
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), "coffer-stack-")));
  const discard = async (): Promise<void> => {
    if (temporary) await rm(dataDirectory, { recursive: true, force: true });
  };
  let server: RunningServer | null = null;
  try {
    // One that was there keeps its mode: it may be a directory that others use, such as /tmp.
    const made = await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    if (made !== undefined) await chmod(dataDirectory, 0o700);
    server = await startServer(parseConfig(serverEnvironment(dataDirectory, options)));
    return describeStack(server, dataDirectory, await ensureAccount(server.baseUrl, dataDirectory), discard);
  } catch (error) {
    await server?.close();
    await discard();
    throw error;
  }
}

function serverEnvironment(
  dataDirectory: string,
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
  };
}

function describeStack(
  server: RunningServer,
  dataDirectory: string,
  account: Awaited<ReturnType<typeof ensureAccount>>,
  discard: () => Promise<void>,
): Stack {
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= server.close().then(discard));
  return {
    baseUrl: server.baseUrl,
    apiKey: account.apiKey.reveal(),
    credentialsFile: account.credentialsFile,
    dataDirectory,
    newAccount: account.isNew,
    close,
    [Symbol.asyncDispose]: close,
  };
}
