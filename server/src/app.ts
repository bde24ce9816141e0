/** The application: a Fastify instance made of its parts. It reads no environment and does not listen. */
import { api, type ErrorCode, ERRORS } from "@coffer/contract";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { Socket } from "node:net";
import type { Deps } from "./deps.ts";
import { Heads, waking } from "./features/events/heads.ts";
import { OpenFeeds } from "./features/events/open-feeds.ts";
import { createHandlers } from "./features/index.ts";
import type { Readiness } from "./features/system/handlers.ts";
import type { StorageWatch } from "./storage-watch.ts";
import { createAuthenticator } from "./http/authentication.ts";
import { BodyRoom } from "./limits/body-room.ts";
import { Call } from "./http/call.ts";
import { type CrossOrigin, openCrossOrigin, PREFLIGHT_HEADERS } from "./http/cross-origin.ts";
import { ServiceError } from "./service-error.ts";
import { codeOfClientError, renderRawFailure } from "./http/failures.ts";
import { framingProblem } from "./http/framing.ts";
import { createGuards } from "./http/guards.ts";
import { requestIdOf } from "./http/headers.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { implement, type Pipeline } from "./http/implement.ts";
import { createMetrics } from "./http/metrics.ts";
import { type Log, logFault } from "./http/log.ts";
import { logRequest } from "./http/request-log.ts";
import { servePages } from "./http/pages/routes.ts";
import { answerFailure, sendText } from "./http/responses.ts";
import { openRunningTime } from "./jobs/running-time.ts";
import { createLimits } from "./limits/limits.ts";
import { sharedRates } from "./features/rates/store.ts";
import { hasEmptySegment } from "./http/paths.ts";
import { readDescriptorLimit, Strangers } from "./http/strangers.ts";
import { Transfers } from "./http/transfers.ts";
import { Turns } from "./http/turns.ts";
import { warnOfUnnamedProxies } from "./http/unnamed-proxies.ts";
import { createUnmatched } from "./http/unmatched.ts";

export type { Deps } from "./deps.ts";

/** The application for its owners: they listen, call and close it, and need none of its parts. */
export type App = FastifyInstance;

export interface AppOptions {
  readonly log: Log;
  readonly readiness: Readiness;
  /** Aborts when running requests must end: the grace of a shutdown is over. */
  readonly stopping: AbortSignal;
  /** Absent: nobody watches the storage. */
  readonly watch?: Pick<StorageWatch, "has" | "isLost">;
  /** Only reads are answered. */
  readonly isTrial?: boolean;
}

export function refusalOfTrial(): ServiceError {
  return new ServiceError("unavailable", "This server tries out a backup: it answers reads, and takes no changes");
}

const UNWATCHED: Pick<StorageWatch, "has" | "isLost"> = { isLost: false, has: () => false };

const MAX_HEADER_BYTES = 16 * 1024;
/** Slow headers are cut (CWE-400); bodies have their own limits, because a large upload may take hours. */
const HEADERS_TIMEOUT = 15_000;
const KEEP_ALIVE_TIMEOUT = 72_000;

declare module "fastify" {
  interface FastifyInstance {
    /** Logs a fault of a request whose answer is already on its way. */
    recordFault: (error: unknown, request: FastifyRequest) => void;
    /** Logs that an answer was cut on its way, and why. It gets no line as a request: it never finished. */
    recordCut: (code: ErrorCode, request: FastifyRequest) => void;
  }
}

/** Builds the app over `deps`. Closing it writes down what it collected, and leaves `deps` open. */
export function buildApp(deps: Deps, options: AppOptions): App {
  const crossOrigin = openCrossOrigin(deps.settings.corsOrigins);
  const app = createServer(deps, options.log, crossOrigin);
  const transfers = new Transfers(deps.settings.timing.recheck);
  const { watch = UNWATCHED, isTrial = false } = options;
  const metrics = createMetrics(api, transfers, { ...deps, watch });
  const authenticator = createAuthenticator(deps);
  const idempotency = createIdempotency(deps);
  app.addHook("onClose", () => idempotency.close());
  const { settings } = deps;
  const { stopping, log } = options;
  const shared = settings.sharesRates ? sharedRates(deps.database) : null;
  const limits = createLimits(settings.rates, deps.clock, { shared });
  const pipeline: Pipeline = {
    settings,
    limits,
    bodyRoom: new BodyRoom(),
    turns: new Turns(),
    strangers: new Strangers(readDescriptorLimit()),
    authenticator,
    idempotency,
    transfers,
    stopping,
    guards: createGuards(settings),
  };
  pipeline.strangers.follow(app.server);
  app.decorate("recordFault", (error: unknown, request: FastifyRequest) => {
    logFault(log, error, { requestId: request.id, endpoint: request.call.endpointId });
  });
  app.decorate("recordCut", (errorCode: ErrorCode, { id: requestId, call }: FastifyRequest) => {
    const { bytesOut, endpointId: endpoint, principal } = call;
    log.events.info({ event: "cut", requestId, endpoint, errorCode, bytesOut, keyId: principal?.keyId ?? null });
  });
  observeRequests(app, log, metrics, crossOrigin);
  warnOfUnnamedProxies(app, log, deps.clock);
  if (isTrial) refuseChanges(app);
  answerFailures(app);
  const feeds = openFeeds(app);
  const heads = new Heads(deps);
  const parts = { readiness: options.readiness, watch, metrics, limits, feeds, heads };
  const handlers = createHandlers({ ...deps, database: waking(deps.database, heads), ...parts });
  implement(app, api, handlers, pipeline);
  if (settings.servesPages) servePages(app, { ...pipeline, auth: handlers.auth });
  if (!isTrial) flushKeyNotes(app, deps, authenticator, log);
  stopping.addEventListener("abort", () => transfers.abortAll(), { once: true });
  return app;
}

/** Ends the feeds before the server waits for running answers: they have no end of their own. */
function openFeeds(app: FastifyInstance): OpenFeeds {
  const feeds = new OpenFeeds();
  app.addHook("preClose", (done) => {
    feeds[Symbol.dispose]();
    done();
  });
  return feeds;
}

function createServer(deps: Deps, log: Log, crossOrigin: CrossOrigin): FastifyInstance {
  // Blocks only: a hop count cannot distinguish the proxy from a client that calls directly (GHSA-3m5p-2c4r-xxw2).
  const { trustedProxies } = deps.settings;
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
    // Node would answer a missing Host itself, without our error body: framing.ts does it.
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT, requireHostHeader: false },
    // Not a limit on the whole request: see HEADERS_TIMEOUT, json-body.ts and byte-bodies.ts.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    return503OnClosing: false,
    forceCloseConnections: "idle",
    genReqId: (raw) => requestIdOf(raw.headers["x-request-id"]) ?? deps.random.uuid(),
    frameworkErrors: (error, request, reply) => {
      startCall(request, crossOrigin);
      answerFailure(error, request, reply);
    },
    clientErrorHandler: (error, socket) => {
      answerMalformed(error, socket, deps.random.uuid(), log);
    },
  });
  // RFC 9110 §10.1.1 lets a server ignore unknown expectations; Node's own 417 has no error body.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  // Bodies are read by the endpoints themselves: here nothing is parsed, buffered or refused.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  return app;
}

function startCall(request: FastifyRequest, crossOrigin: CrossOrigin): void {
  request.call = new Call(performance.now());
  request.call.moreHeaders = crossOrigin.headersFor(request.headers);
}

function observeRequests(
  app: FastifyInstance,
  log: Log,
  metrics: ReturnType<typeof createMetrics>,
  crossOrigin: CrossOrigin,
): void {
  // Declared so that every request object has the same shape; `begin` fills it in.
  app.decorateRequest("call");
  app.addHook("onRequest", (request, reply, done) => {
    startCall(request, crossOrigin);
    const problem = framingProblem(request.raw);
    if (problem !== null) done(new ServiceError("malformed_request", problem));
    else if (hasEmptySegment(request.url)) done(new ServiceError("not_found"));
    else if (crossOrigin.isPreflight(request.method, request.headers)) {
      sendText(request, reply, { status: 204, headers: PREFLIGHT_HEADERS, body: null });
    } else done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const elapsed = performance.now() - request.call.startedAt;
    metrics.observe(request.call, reply.raw.statusCode, elapsed);
    logRequest(log, request, reply, elapsed);
    done();
  });
}

function refuseChanges(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    if (request.method === "GET" || request.method === "HEAD") done();
    else done(refusalOfTrial());
  });
}

function answerFailures(app: FastifyInstance): void {
  const unmatched = createUnmatched(api);
  app.setErrorHandler(answerFailure);
  app.setNotFoundHandler((request, reply) => {
    answerFailure(unmatched(request.url.split("?", 1)[0] ?? ""), request, reply);
  });
}

interface ParserError {
  readonly code?: string;
  /** The packet that the parser refused, a Buffer (whatever Fastify's types say). */
  readonly rawPacket?: unknown;
}

/** What the parser of `node:http` refuses never becomes a request: the answer goes to the socket as text. */
function answerMalformed(error: ParserError, socket: Socket, requestId: string, log: Log): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = codeOfClientError(error);
  log.events.info({ event: "request", requestId, endpoint: null, status: ERRORS[code].status, errorCode: code });
  // RFC 9110 §9.3.2: the answer to HEAD has no body. The method is known when its packet is the refused one.
  const packet = Buffer.isBuffer(error.rawPacket) ? error.rawPacket : Buffer.alloc(0);
  const isHead = packet.subarray(0, 5).toString("latin1") === "HEAD ";
  socket.end(renderRawFailure(code, requestId, { body: !isHead }), () => socket.destroy());
}

/** Notes of authentication about keys are written now and then, and at the end. */
function flushKeyNotes(
  app: FastifyInstance,
  { database, settings }: Deps,
  { lastUsed, outlived }: Pick<ReturnType<typeof createAuthenticator>, "lastUsed" | "outlived">,
  log: Log,
): void {
  const write = async (): Promise<void> => {
    try {
      await lastUsed.flush(database);
      // What a clock that was ahead let expire comes back when it is set right.
      if ((await openRunningTime(database).doubt()) === null) await outlived.flush(database);
    } catch (error) {
      logFault(log, error, { task: "key-notes" });
    }
  };
  // One after the other, so that the end waits for what is under way.
  let written = Promise.resolve();
  const flush = (): Promise<void> => (written = written.then(write));
  lastUsed.onFirst = () => void flush();
  let timer: NodeJS.Timeout | null = null;
  app.addHook("onReady", (done) => {
    timer = setInterval(() => void flush(), settings.timing.lastUsedFlush).unref();
    done();
  });
  app.addHook("onClose", async () => {
    if (timer !== null) clearInterval(timer);
    await flush();
  });
}
