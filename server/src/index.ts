/** The server as a library: start one on an address, or call an app in process. */
import type { FastifyInstance } from "fastify";
import { destination, type Logger, pino } from "pino";
import { buildApp } from "./app.ts";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { openDiskBlobs } from "./drivers/blobs/disk.ts";
import { openSqlite } from "./drivers/database/sqlite.ts";
import { type Readiness, VERSION } from "./features/system/handlers.ts";
import { logFault } from "./http/request-log.ts";
import { migrate } from "./migrations/migrate.ts";
import { systemClock } from "./ports/clock.ts";
import { systemRandom } from "./ports/random.ts";

export { buildApp } from "./app.ts";
export { type Config, ConfigError, type Environment, parseConfig, renderUsage, type Settings } from "./config.ts";
export type { Deps } from "./deps.ts";
export { fetchHandler } from "./http/in-process.ts";
export { VERSION };

export interface RunningServer {
  /** `http://127.0.0.1:8787`, without a trailing slash. */
  readonly baseUrl: string;
  readonly address: { readonly host: string; readonly port: number };
  /** The app that listens, for an in-process transport. */
  readonly app: FastifyInstance;
  /**
   * Stops accepting, lets running requests finish within the configured grace, aborts the rest, and releases database
   * and files. A second call waits for the same end.
   */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Takes the log instead of standard error. */
  readonly log?: Logger;
}

/** How long aborted requests may take to answer before their connections are cut. */
const ABORT_GRACE = 1_000;

/**
 * Opens the storage, brings the schema up to date, cleans up after an earlier crash, and listens. Rejects, with
 * everything released, when storage cannot be opened or the address is taken (`EADDRINUSE`).
 */
export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  const log = options.log ?? pino({ level: config.log.level, base: null }, destination({ dest: 2, sync: false }));
  const stack = new AsyncDisposableStack();
  try {
    const deps = await openStorage(config, stack);
    const stopping = new AbortController();
    const readiness: { state: Readiness["state"] } = { state: "starting" };
    const app = buildApp(deps, { log, readiness, stopping: stopping.signal });
    stack.defer(() => app.close());
    await app.listen(config.listen);
    readiness.state = "ready";
    const address = addressOf(app, config.listen.host);
    log.info({ event: "listening", ...address, mode: config.environment.mode, version: VERSION });
    let closed: Promise<void> | null = null;
    const close = async (): Promise<void> => {
      readiness.state = "stopping";
      log.info({ event: "stopping" });
      await drain(app, stopping, config.settings.timing.shutdownGrace, log);
      await stack.disposeAsync();
      log.info({ event: "stopped" });
      log.flush();
    };
    return { baseUrl: baseUrlOf(address), address, app, close: () => (closed ??= close()) };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function openStorage(config: Config, stack: AsyncDisposableStack): Promise<Deps> {
  const database = stack.use(await openSqlite({ path: config.database.path }));
  await migrate(database);
  const blobs = stack.use(await openDiskBlobs({ directory: config.blobs.directory }));
  return { database, blobs, clock: systemClock, random: systemRandom, settings: config.settings };
}

/** `app.close` waits for running requests; when the grace is over they are aborted, and then cut. */
async function drain(app: FastifyInstance, stopping: AbortController, grace: number, log: Logger): Promise<void> {
  const abort = setTimeout(() => stopping.abort(), grace);
  const cut = setTimeout(() => app.server.closeAllConnections(), grace + ABORT_GRACE);
  try {
    await app.close();
  } catch (error) {
    logFault(log, error, { task: "close" });
  } finally {
    clearTimeout(abort);
    clearTimeout(cut);
  }
}

function addressOf(app: FastifyInstance, host: string): { host: string; port: number } {
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen on an address");
  return { host, port: address.port };
}

function baseUrlOf({ host, port }: { host: string; port: number }): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
