/** Fastify ↔ contract: every endpoint of an api becomes a route that parses, authorises, calls and renders. */
import { type Api, type EndpointDefinition, isBytes, takesIdempotencyKey } from "@coffer/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Settings } from "../config.ts";
import { clientKeyOf } from "../limits/client-key.ts";
import type { Limits } from "../limits/limits.ts";
import { addressBucketOf, type Bucket } from "../limits/policies.ts";
import type { Authenticator } from "./authentication.ts";
import { type BodyRoom, FREE_BODY_BYTES } from "../limits/body-room.ts";
import { openByteBody } from "./byte-bodies.ts";
import { type Call, CallContext } from "./call.ts";
import { ServiceError } from "../service-error.ts";
import type { Handlers, IncomingBytes, OutgoingBytes, Principal } from "../handler.ts";
import { describeFailure } from "./failures.ts";
import { deprecationHeadersOf, requireVersionForm } from "./headers.ts";
import { type Idempotency, type Payload, type Reservation } from "./idempotency.ts";
import { parseSection, parseSections, requiredMediaType } from "./input.ts";
import { announcesBody, type JsonBody, readJsonBody } from "./json-body.ts";
import { type RenderedAnswer, renderAnswer } from "./output.ts";
import { addressOf, originOf } from "./origin.ts";
import { pathsOf, routePathOf } from "./paths.ts";
import { authorize, requireLevel } from "./permissions.ts";
import { allHeadersOf, answerFailure, sendText } from "./responses.ts";
import { sendBytes } from "./send-bytes.ts";
import type { Strangers } from "./strangers.ts";
import type { Transfers } from "./transfers.ts";
import type { Turns } from "./turns.ts";

/** Throws what an endpoint answers before it looks at its caller or its body. */
export type Guard = (request: FastifyRequest) => void;

export interface Pipeline {
  readonly settings: Settings;
  readonly authenticator: Authenticator;
  readonly idempotency: Idempotency;
  readonly transfers: Transfers;
  readonly limits: Limits;
  readonly bodyRoom: BodyRoom;
  readonly turns: Turns;
  readonly strangers: Strangers;
  /** Aborts when running requests must end. */
  readonly stopping: AbortSignal;
  readonly guards: Readonly<Record<string, Guard>>;
}

type AnyHandler = (input: Record<string, unknown>, context: CallContext) => Promise<unknown>;

interface Route {
  readonly endpoint: EndpointDefinition;
  readonly handler: AnyHandler;
  readonly guard: Guard | undefined;
  /** The bucket of the client's address; undefined: the endpoint takes from none. */
  readonly addressBucket: Bucket | undefined;
  readonly takesKey: boolean;
}

/** Registers a route for every endpoint. The types hold `handlers` to the contract; here they are only called. */
export function implement<Definition extends Api>(
  app: FastifyInstance,
  api: Definition,
  handlers: Handlers<Definition>,
  pipeline: Pipeline,
): void {
  for (const [groupName, group] of Object.entries(api)) {
    const groupHandlers = groupsOf(handlers)[groupName] ?? {};
    for (const [name, endpoint] of Object.entries(group)) {
      const handler = groupHandlers[name];
      if (handler === undefined) throw new Error(`${endpoint.id} has no handler`);
      const guard = pipeline.guards[endpoint.id];
      const addressBucket = addressBucketOf(endpoint);
      register(app, { endpoint, handler, guard, addressBucket, takesKey: takesIdempotencyKey(endpoint) }, pipeline);
    }
  }
}

/** Which handler takes which input is settled by {@link Handlers}; past this point they are called by name. */
function groupsOf<Definition extends Api>(
  handlers: Handlers<Definition>,
): Readonly<Record<string, Record<string, AnyHandler>>> {
  return handlers as unknown as Readonly<Record<string, Record<string, AnyHandler>>>;
}

function register(app: FastifyInstance, route: Route, pipeline: Pipeline): void {
  const { deprecated } = route.endpoint;
  const ending = deprecated === undefined ? null : deprecationHeadersOf(deprecated);
  for (const path of pathsOf(route.endpoint)) {
    app.route({
      method: route.endpoint.method,
      url: routePathOf(path),
      handler: (request, reply) => {
        request.call.endpointId = route.endpoint.id;
        if (ending !== null) request.call.moreHeaders = { ...request.call.moreHeaders, ...ending };
        handle(route, request, reply, pipeline).catch((error: unknown) => answerFailure(error, request, reply));
      },
    });
  }
}

/** One async function per request and no hooks: each hop between promises was measured to cost. */
async function handle(route: Route, request: FastifyRequest, reply: FastifyReply, pipeline: Pipeline): Promise<void> {
  const { endpoint } = route;
  requireVersionForm(request.headers["api-version"]);
  route.guard?.(request);
  if (route.addressBucket !== undefined) {
    const taken = pipeline.limits.consume(route.addressBucket, clientKeyOf(addressOf(request)));
    request.call.quota = taken instanceof Promise ? await taken : taken;
  }
  if (endpoint.auth === "credential") {
    // Before any byte of the body: who calls, and whether they may.
    const principal = await pipeline.authenticator.authenticate(request.headers, originOf(request));
    request.call.principal = principal;
    pipeline.strangers.admit(request.raw.socket);
    const taken = pipeline.limits.consume("general", credentialIdOf(request.call) ?? principal.accountId);
    request.call.quota = taken instanceof Promise ? await taken : taken;
    await pipeline.limits.consumeRequest(principal.budgets);
    authorize(endpoint, principal);
  }
  await serve(route, request, reply, pipeline);
}

/** The API key's or the session's id; null for development access and for nobody. */
function credentialIdOf({ principal }: Call): string | null {
  return principal === null ? null : (principal.keyId ?? principal.sessionId);
}

/** One admitted request, with what its parts need. */
interface Exchange {
  readonly route: Route;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly pipeline: Pipeline;
  /** The parsed sections; the body is added last. */
  readonly input: Record<string, unknown>;
}

async function serve(route: Route, request: FastifyRequest, reply: FastifyReply, pipeline: Pipeline): Promise<void> {
  const { endpoint } = route;
  const exchange = { route, request, reply, pipeline, input: parseSections(endpoint, request) };
  if (isBytes(endpoint.body)) return serveByteBody(exchange);
  if (endpoint.body === undefined) return answer(exchange, "");
  const json = await readJson(exchange);
  request.call.bytesIn += json?.text.length ?? 0;
  if (json === null && endpoint.bodyOptional !== true) {
    throw new ServiceError("validation_failed", "body: A JSON body is required");
  }
  const { principal } = request.call;
  // A body may take its time, and what ended its credential had its turn meanwhile (decisions §4, "in-flight on revoke").
  if (principal !== null && json !== null) requireLevel(endpoint, await pipeline.authenticator.recheck(principal));
  exchange.input["body"] = json === null ? undefined : parseSection("body", endpoint.body, json.value);
  await answer(exchange, json?.text ?? "");
}

/** What anybody may send without a credential is small, and costs nothing of the room that others need. */
async function readJson({ route, request, pipeline }: Exchange): Promise<JsonBody | null> {
  const { settings, bodyRoom, turns } = pipeline;
  const { principal } = request.call;
  const most = settings.limits.jsonBodyBytes;
  using place = bodyRoom.open(principal?.accountId ?? clientKeyOf(addressOf(request)));
  return await readJsonBody(request.raw, {
    bytes: route.endpoint.auth === "none" ? Math.min(most, FREE_BODY_BYTES) : most,
    milliseconds: settings.timing.jsonBody,
    place,
    turns,
  });
}

/** `body` is the request's body in a fingerprint. */
async function answer(exchange: Exchange, body: string): Promise<void> {
  const { route, request } = exchange;
  const key = route.takesKey ? request.headers["idempotency-key"] : undefined;
  if (key === undefined) return run(exchange, null);
  await answerOnce(exchange, String(key), body);
}

/** With an Idempotency-Key: the kept answer, or one run whose answer is kept. */
async function answerOnce(exchange: Exchange, key: string, body: string): Promise<void> {
  const { route, request, reply, pipeline } = exchange;
  const { principal } = request.call;
  if (principal === null) throw new Error(`${route.endpoint.id} takes an Idempotency-Key without a caller`);
  const payload: Payload = { method: request.method, url: request.url, body, rights: describeRights(principal) };
  const outcome = await pipeline.idempotency.reserve(route.endpoint, principal.accountId, key, payload);
  if (outcome.kind === "replay") return sendText(request, reply, outcome.answer);
  try {
    await run(exchange, outcome.reservation);
    await outcome.reservation.end("answered");
  } catch (error) {
    // A key that cannot be given free now is free as soon as it is asked for again: its owner no longer runs.
    await outcome.reservation.end("failed").catch((fault: unknown) => request.server.recordFault(fault, request));
    throw error;
  }
}

/** Equal for keys that may do the same, so that a repeat with a rotated key is still a repeat. */
function describeRights({ accessLevel, scopes, vaultIds, chainAddress }: Principal): string {
  const sorted = (words: ReadonlySet<string> | null) => (words === null ? null : [...words].sort());
  // What an agent may do in a shared vault is its address's right; owners act with one address, bound to it or not.
  const acting = accessLevel === "owner" ? null : chainAddress;
  return JSON.stringify([accessLevel, sorted(scopes), sorted(vaultIds), acting]);
}

async function run(
  { route, request, reply, pipeline, input }: Exchange,
  reservation: Reservation | null,
): Promise<void> {
  const { authenticator, stopping } = pipeline;
  const { publicUrl } = pipeline.settings;
  const context = new CallContext(route.endpoint, request, reply, { authenticator, stopping, reservation, publicUrl });
  const rendered = renderAnswer(route.endpoint, await route.handler(input, context));
  if (rendered.body === null || typeof rendered.body === "string") return sendText(request, reply, rendered);
  await sendStream(request, reply, rendered, rendered.body, context, pipeline);
}

async function serveByteBody(exchange: Exchange): Promise<void> {
  const { route, request, pipeline, input } = exchange;
  const { call } = request;
  requireMediaType(route.endpoint, request);
  const recheck = async (): Promise<void> => {
    if (call.principal !== null) await pipeline.authenticator.recheck(call.principal);
  };
  const recheckAll = async (): Promise<void> => {
    await recheck();
    await call.recheckWatches();
  };
  const onBytes = (count: number): void => {
    call.bytesIn += count;
  };
  const body = openByteBody(request.raw, { idle: pipeline.settings.timing.idleBody, onBytes, recheck: recheckAll });
  const recheckWatches = (): Promise<void> => call.recheckWatches();
  const finished = pipeline.transfers.add({
    credentialId: credentialIdOf(call),
    recheck,
    recheckWatches,
    abort: body.abort,
  });
  const { stream, length, contentType } = body;
  try {
    input["body"] = { stream, length, contentType };
    await answer(exchange, describeByteBody(input["headers"], body));
  } finally {
    finished();
  }
}

/** A byte body's part of a fingerprint: its length, its media type, and the headers that shape its result. */
function describeByteBody(headers: unknown, { length, contentType }: IncomingBytes): string {
  // The boundary of multipart is new in every attempt.
  const mediaType = (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  return JSON.stringify([length, { ...(headers as Record<string, unknown> | undefined), "content-type": mediaType }]);
}

const FORM_TYPE = "application/x-www-form-urlencoded";
/** What `curl -d @file` sends is no longer the file. */
const FORM_REFUSED =
  "Unsupported media type: a form is not stored. curl -d drops line ends: send the file with --data-binary @FILE and its own Content-Type";

function requireMediaType(endpoint: EndpointDefinition, request: FastifyRequest): void {
  if (!announcesBody(request.raw)) return;
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new ServiceError("unsupported_media_type", "Content-Encoding is not supported");
  }
  const required = requiredMediaType(endpoint);
  const given = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (required === null) {
    if (isBytes(endpoint.body) && given === FORM_TYPE) throw new ServiceError("unsupported_media_type", FORM_REFUSED);
    return;
  }
  if (given !== required) throw new ServiceError("unsupported_media_type", `Unsupported media type: send ${required}`);
}

/** Past Fastify's own streaming: the driver's buffers go to the connection as they are. */
async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers }: RenderedAnswer,
  body: OutgoingBytes,
  context: CallContext,
  { settings, transfers }: Pick<Pipeline, "settings" | "transfers">,
): Promise<void> {
  const { raw } = reply;
  const { call } = request;
  // Only now: a content that cannot be read at all has an answer that says so.
  const start = (): void => {
    reply.hijack();
    raw.writeHead(status, allHeadersOf(request, headers));
  };
  const recheck = (): Promise<void> => context.recheck();
  const onBytes = (count: number): void => {
    call.bytesOut += count;
  };
  const finished = transfers.add({
    credentialId: credentialIdOf(call),
    recheck: () => context.recheckCredential(),
    recheckWatches: () => call.recheckWatches(),
    abort: ({ code }) => {
      raw.destroy();
      request.server.recordCut(code, request);
    },
  });
  try {
    await sendBytes(raw, body, { start, onBytes, recheck, idle: settings.timing.idleBody });
  } catch (error) {
    if (!raw.headersSent) throw error;
    // The status has been sent: all that is left is to say so in the log. A credential that has ended is no fault of the service.
    const { code, unexpected } = describeFailure(error);
    call.errorCode = code;
    if (unexpected) request.server.recordFault(error, request);
    else request.server.recordCut(code, request);
  } finally {
    finished();
  }
}
