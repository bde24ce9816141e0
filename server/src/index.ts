/** The server as a library: start one on an address, or call an app in process. */
import { setTimeout as sleep } from "node:timers/promises";
import { type App, buildApp, refusalOfTrial } from "./app.ts";
import type { Config } from "./config.ts";
import { warningsOf } from "./config/warnings.ts";
import type { Deps } from "./deps.ts";
import { openMailer } from "./drivers/mail/open.ts";
import { openWebhookSender } from "./drivers/webhook-sender/undici.ts";
import { BUILD, describeBuild, VERSION } from "./build.ts";
import type { Readiness } from "./features/system/handlers.ts";
import { type LineSink, type Log, logFault, openLog, renderError } from "./http/log.ts";
import { followUnused } from "./http/unused-connections.ts";
import { openProviders } from "./providers.ts";
import { checkClock } from "./jobs/running-time.ts";
import { startJobs } from "./jobs/start-jobs.ts";
import { startWebhooks } from "./features/webhooks/delivery/start-webhooks.ts";
import { requireMasterKey } from "./master-key.ts";
import { type Clock, systemClock } from "./ports/clock.ts";
import type { Database } from "./ports/database.ts";
import { systemRandom } from "./ports/random.ts";
import { wrapDatabase } from "./ports/wrapped-database.ts";
import { openStorage, type Storage } from "./storage.ts";
import { explainFull, explainRoom } from "./storage-trouble.ts";
import { type LogStorage, StorageWatch } from "./storage-watch.ts";

export { type App, buildApp } from "./app.ts";
export {
  type Config,
  ConfigError,
  type Environment,
  findUnread,
  parseConfig,
  renderUsage,
  type Settings,
} from "./config.ts";
export type { Deps } from "./deps.ts";
export { fetchHandler } from "./http/in-process.ts";
export { OutdatedServerError } from "./ports/database.ts";
export { describeBuild };
export { readEnvFile } from "./config/env-file.ts";

export interface RunningServer {
  /** `http://127.0.0.1:8787`, without a trailing slash. */
  readonly baseUrl: string;
  readonly address: { readonly host: string; readonly port: number };
  /** The app that listens, for an in-process transport. */
  readonly app: App;
  /** Resolves when a newer server has migrated the database: this one writes no more and must end. */
  readonly outdated: Promise<Error>;
  /**
   * Stops accepting, lets running requests finish within the configured grace, aborts the rest, and releases database
   * and files. A second call waits for the same end.
   */
  close(options?: CloseOptions): Promise<void>;
  /** Resolves when the storage takes no writes any more until another process begins: a minute after a flush failed. */
  readonly lost: Promise<void>;
}

export interface CloseOptions {
  /** First only `/readyz` says so, for as long as configured, so that load balancers send nothing more. That is part of the grace. */
  readonly notice?: boolean;
}

export interface StartOptions {
  /** Takes the log's lines instead of standard error. */
  readonly logSink?: LineSink;
  /** In the place of the system's. What it is ahead of that has passed for waits and limits, too. Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Only reads are answered, on this machine alone. No job runs, and nothing is sent. */
  readonly trial?: boolean;
}

/** How long aborted requests may take to answer before their connections are cut. */
const ABORT_GRACE = 1_000;
/** How soon a connection that goes idle during a shutdown is closed. */
const IDLE_SWEEP = 50;

/**
 * Opens the storage, brings the schema up to date, cleans up after an earlier crash, and listens. Rejects, with
 * everything released, when storage cannot be opened or the address is taken (`EADDRINUSE`).
 */
export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  const isTrial = options.trial === true;
  const log = openLog(config.log.level, options.logSink);
  const stack = new AsyncDisposableStack();
  const began = performance.now();
  const clock = options.clock === undefined ? systemClock : clockBy(options.clock);
  for (const { event, message } of warningsOf(config)) log.events.warn({ event }, message);
  try {
    const settings = { ...config.settings };
    const outside = isTrial ? { chain: null, identityProvider: null, prover: null, payments: null } : {};
    const providers = openProviders({ ...config, ...outside, settings }, clock);
    if (providers.chain !== null) stack.use(providers.chain);
    const watch = new StorageWatch(storageLog(log, config));
    const { database, blobs, places } = stack.use(await openWatched(config, { watch, log, clock }));
    if (!isTrial) await checkClock({ database, clock, log: jobLog(log) });
    const deps: Deps = {
      database: isTrial ? readOnly(database) : database,
      blobs,
      mailer: stack.use(await openMailer(config.mail, { clock, random: systemRandom })),
      webhookSender: stack.use(openWebhookSender(config.settings.webhooks, { clock })),
      ...providers,
      clock,
      random: systemRandom,
    };
    await requireMasterKey(deps);
    const stopping = new AbortController();
    const readiness: { state: Readiness["state"] } = { state: "starting" };
    const app = buildApp(deps, { log, readiness, stopping: stopping.signal, watch, isTrial });
    stack.defer(() => app.close());
    if (!isTrial) stack.defer(startJobs({ ...deps, log: jobLog(log) }, places));
    const stopWebhooks = isTrial ? noWebhooks : startWebhooks({ ...deps, log: jobLog(log) });
    stack.defer(() => stopWebhooks(ABORT_GRACE));
    // Its probe writes.
    if (!isTrial) stack.defer(watch.watch(deps));
    const closeUnused = followUnused(app.server);
    await app.listen(isTrial ? { host: "127.0.0.1", port: 0 } : config.listen);
    readiness.state = "ready";
    const address = addressOf(app, isTrial ? "127.0.0.1" : config.listen.host);
    // Mails lead to this service, on a port that was only now chosen.
    if (settings.appUrl.endsWith(":0")) Object.assign(settings, { appUrl: baseUrlOf(address) });
    const recoveryMs = performance.now() - began;
    log.events.info({ event: "listening", ...address, recoveryMs, mode: config.mode, version: VERSION, build: BUILD });
    const { outdated } = database.schemaGuard;
    void outdated.then((error) => markOutdated(error, readiness, log));
    let closed: Promise<void> | null = null;
    const close = async ({ notice = false }: CloseOptions = {}): Promise<void> => {
      const { shutdownGrace, shutdownNotice } = config.settings.timing;
      const announced = notice ? Math.min(shutdownNotice, shutdownGrace) : 0;
      if (readiness.state !== "outdated") readiness.state = "stopping";
      log.events.info({ event: "stopping" });
      // Beside the requests that are still running, which have the same grace.
      void stopWebhooks(shutdownGrace);
      if (announced > 0) await sleep(announced);
      await drain({ app, stopping, closeUnused }, shutdownGrace - announced, log);
      await stack.disposeAsync();
      log.events.info({ event: "stopped" });
      log.flush();
    };
    return {
      baseUrl: baseUrlOf(address),
      address,
      app,
      outdated,
      lost: watch.lost,
      close: (how) => (closed ??= close(how)),
    };
  } catch (error) {
    await stack.disposeAsync();
    log.flush();
    throw explainFull(error, config);
  }
}

/** Whatever writes to it fails: what a trial serves stays as it was restored. */
function readOnly(database: Database): Database {
  const refuse = (): Promise<never> => Promise.reject(refusalOfTrial());
  return wrapDatabase(database, { act: refuse, transaction: refuse, run: refuse });
}

const noWebhooks = (): Promise<void> => Promise.resolve();

/** Time that passes on it is no jump of the clock. */
function clockBy(now: () => number): Clock {
  return { now, elapsed: () => systemClock.elapsed() + Math.max(0, now() - systemClock.now()) };
}

function markOutdated({ message }: Error, readiness: { state: Readiness["state"] }, log: Log): void {
  readiness.state = "outdated";
  log.events.error({ event: "outdated" }, `${message}. This one ends`);
}

function openWatched(
  config: Config,
  { watch, log, clock }: { readonly watch: StorageWatch; readonly log: Log; readonly clock: Clock },
): Promise<Storage> {
  return openStorage(config, {
    clock,
    note: (fields, message) => log.events.info({ event: "storage", ...fields }, message),
    onMigration: ({ version: schema, place, ...migration }) => {
      log.events.info({ event: "migration", schema, ...migration }, `${place} has schema ${String(schema)} now`);
      log.flush();
    },
    onDatabaseFault: watch.onFaultOf("database"),
    onBlobsFault: watch.onFaultOf("blobs"),
  });
}

/** Each state of the storage has one line when it begins and one when it ends. */
function storageLog(log: Log, config: Config): LogStorage {
  return (line, cause) => {
    const { part, state } = line;
    const isOfRoom = state === "full" || (state === "back" && line["was"] === "full");
    const { message, ...place } = isOfRoom ? explainRoom(part, state, config) : {};
    const error = cause === undefined ? {} : { error: renderError(cause) };
    const fields = { event: "storage", ...line, ...place, ...error };
    if (state === "back") log.events.info(fields, message);
    else log.events.error(fields, message);
    log.flush();
  };
}

/** Job errors go through the same redaction as those of requests. */
function jobLog(log: Log): Parameters<typeof startJobs>[0]["log"] {
  return {
    info: (fields, message) => log.events.info({ event: "job", ...fields }, message),
    error: ({ err, ...fields }, message) => {
      if (err === undefined) log.events.error({ event: "job", ...fields }, message);
      else logFault(log, err, { task: typeof fields["job"] === "string" ? fields["job"] : message });
    },
  };
}

interface Draining {
  readonly app: App;
  readonly stopping: AbortController;
  /** Closes connections on which nothing was asked. */
  readonly closeUnused: () => void;
}

/** `app.close` waits for running requests; when the grace is over they are aborted, and then cut. */
async function drain({ app, stopping, closeUnused }: Draining, grace: number, log: Log): Promise<void> {
  const abort = setTimeout(() => stopping.abort(), grace);
  const cut = setTimeout(() => app.server.closeAllConnections(), grace + ABORT_GRACE);
  // `close` ends what is idle at that moment; a connection whose answer was still on its way goes idle a little later.
  const sweep = setInterval(() => {
    app.server.closeIdleConnections();
    closeUnused();
  }, IDLE_SWEEP);
  try {
    await app.close();
  } catch (error) {
    logFault(log, error, { task: "close" });
  } finally {
    clearInterval(sweep);
    clearTimeout(abort);
    clearTimeout(cut);
  }
}

function addressOf(app: App, host: string): { host: string; port: number } {
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen on an address");
  return { host, port: address.port };
}

function baseUrlOf({ host, port }: { host: string; port: number }): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
