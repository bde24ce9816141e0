import {
  HEADERS,
  isBytes,
  takesIdempotencyKey,
  type CallInput,
  type EndpointDefinition,
  type ErrorCode,
  type Output,
} from "@coffer/contract";
import { renderBytes, type ByteBody, type WireBody } from "./byte-body.ts";
import { decodeError, decodeJson, isSuccess, requestIdOf } from "./decode-response.ts";
import { encodeRequest, type EncodedRequest } from "./encode-request.ts";
import { ApiError, ConnectionError, ContractError, SdkError } from "./errors.ts";
import { guardStream } from "./guarded-stream.ts";
import type { Bearer, Connection } from "./options.ts";
import { errorCode, sanitizeCause } from "./redaction.ts";
import { isWorthRepeating, mayHaveBeenDone, retryDelay } from "./retry.ts";
import type { Secret } from "./secret.ts";
import { throughMiddleware } from "./transports.ts";
import { pause, Watch } from "./watch.ts";

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Names a mutation so that a repeat is not a second one; made at random once per call when absent. 1 to 255 characters. */
  readonly idempotencyKey?: string | undefined;
  /** Milliseconds for one attempt and for all of them; see {@link TimeLimits}. */
  readonly attemptMs?: number | undefined;
  readonly totalMs?: number | undefined;
  /** Repeats after the first attempt; 0 for none. */
  readonly retries?: number | undefined;
  /** Bytes of the request body handed to the transport in this attempt; 0 when an attempt begins. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** A byte answer. Read `body` to its end or cancel it; until then the connection is in use. */
export interface ByteAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array>;
}

/** What a call gives: the contract's output; `undefined` where the endpoint may answer without a body. */
export type CallOutput<E extends EndpointDefinition> =
  | Output<E, ByteAnswer>
  | (E extends { otherStatuses: readonly (infer Status)[] } ? (204 extends Status ? undefined : never) : never);

/** An output with what came around it. */
export interface Answer<E extends EndpointDefinition> {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | null;
  readonly output: CallOutput<E>;
}

/** One call with all that its attempts share. */
interface Call {
  readonly connection: Connection;
  readonly endpoint: EndpointDefinition;
  readonly request: EncodedRequest;
  readonly options: CallOptions;
  /** By the connection's clock, in milliseconds. */
  readonly deadline: number;
  /** Sent with the last attempt; a call has it renewed once. */
  bearer: Bearer | null;
  renewed: boolean;
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | null;
  readonly output: unknown;
}

/**
 * Sends one call of the contract: checks and encodes the input, repeats what is worth repeating, checks the answer.
 * Rejects with an {@link SdkError}; failures that the endpoint declares are {@link ApiError}s (see `failureOf`).
 */
export async function send<E extends EndpointDefinition>(
  connection: Connection,
  endpoint: E,
  input: CallInput<E, ByteBody>,
  options: CallOptions = {},
): Promise<Answer<E>> {
  const encoded = encodeRequest(endpoint, input);
  const request = { ...encoded, headers: { ...encoded.headers, ...idempotencyHeader(endpoint, options) } };
  const deadline = connection.clock.now() + totalLimit(connection, endpoint, options);
  const answer = await sendRepeatedly({
    ...{ connection, endpoint, request, options, deadline },
    ...{ bearer: null, renewed: false },
  });
  // `decodeJson` has checked the output against this endpoint's schema; the type cannot follow through `unknown`.
  return answer as Answer<E>;
}

/** The output of one call, without what came around it. */
export async function callOn<E extends EndpointDefinition>(
  connection: Connection,
  endpoint: E,
  input: CallInput<E, ByteBody>,
  options?: CallOptions,
): Promise<CallOutput<E>> {
  return (await send(connection, endpoint, input, options)).output;
}

async function sendRepeatedly(call: Call): Promise<RawAnswer> {
  const { connection, endpoint, options } = call;
  const { clock, retry, budget } = connection;
  const limit = isRepeatable(call) ? (options.retries ?? retry.limit) : 0;
  for (let attempt = 1, perhapsDone = false; ; attempt += 1) {
    try {
      const answer = await attemptOnce(call, attempt);
      budget.succeeded();
      return answer;
    } catch (error) {
      if (await renewCredential(call, error)) continue;
      if (perhapsDone && isGoneAfterDelete(endpoint, error)) {
        return { status: 204, headers: new Headers(), requestId: error.requestId, output: undefined };
      }
      if (attempt > limit || !isWorthRepeating(error) || !mayRepeat(endpoint, error))
        throw perhapsDone ? asPerhapsDone(error) : error;
      const delay = retryDelay(retry, attempt, error, () => clock.random());
      if (clock.now() + delay >= call.deadline || !budget.take()) throw perhapsDone ? asPerhapsDone(error) : error;
      perhapsDone ||= mayHaveBeenDone(error);
      await pause(clock, delay, options.signal);
    }
  }
}

/** A session's access token that is no longer taken is replaced, once in a call. A body that is gone cannot be sent again. */
async function renewCredential(call: Call, error: unknown): Promise<boolean> {
  const { bearer, renewed, connection, options } = call;
  if (renewed || bearer?.renew == null || !isSendable(call)) return false;
  if (!(error instanceof ApiError) || error.code !== "invalid_credential") return false;
  call.renewed = true;
  const watch = new Watch(connection.clock, options.signal);
  try {
    limitAttempt(call, watch);
    await watch.race(bearer.renew());
    return true;
  } catch (reason) {
    throw watch.failure ?? reason;
  } finally {
    watch.release();
  }
}

async function attemptOnce(call: Call, attempt: number): Promise<RawAnswer> {
  const { connection, endpoint, options } = call;
  const watch = new Watch(connection.clock, options.signal);
  let kept = false;
  try {
    limitAttempt(call, watch);
    const response = await exchange(call, watch, attempt);
    if (!isSuccess(endpoint, response.status)) throw await watch.race(decodeError(response, Date.now()));
    const answer = { status: response.status, headers: response.headers, requestId: requestIdOf(response) };
    if (isBytes(endpoint.output)) {
      kept = true;
      return { ...answer, output: openBytes(connection, response, watch) };
    }
    return { ...answer, output: await watch.race(readOutput(connection, endpoint, response)) };
  } catch (error) {
    throw watch.failure ?? asSdkError(error, connection.baseUrl);
  } finally {
    if (!kept) watch.release();
  }
}

async function exchange(call: Call, watch: Watch, attempt: number): Promise<Response> {
  const { connection, endpoint } = call;
  call.bearer = endpoint.auth === "credential" ? await watch.race(connection.credential()) : null;
  const secret = call.bearer?.secret ?? null;
  const context = { endpointId: endpoint.id, attempt };
  const transport = throughMiddleware(connection.transport, connection.middleware, context);
  return watch.race(transport(buildRequest(call, watch, attempt, secret)));
}

/** Throws ContractError for what cannot be sent: a value no header can carry, a stream where only bytes go. */
function buildRequest(call: Call, watch: Watch, attempt: number, secret: Secret | null): Request {
  const { connection, endpoint, request } = call;
  // `redirect: "error"`: the credential stays with this origin, and undici does not keep a copy of the body.
  const init: RequestInit & { duplex?: "half" } = { method: request.method, signal: watch.signal, redirect: "error" };
  try {
    const headers = new Headers({ accept: "application/json", ...connection.identification, ...request.headers });
    if (attempt > 1) headers.set(HEADERS.retryCount, String(attempt - 1));
    if (secret !== null) headers.set("authorization", `Bearer ${secret.reveal()}`);
    const body = renderBody(call, watch);
    if (body.length !== null) headers.set("content-length", String(body.length));
    if (body.streamed) init.duplex = "half";
    return new Request(`${connection.baseUrl}${request.target}`, { ...init, headers, body: body.body });
  } catch (error) {
    throw new ContractError("request", endpoint.id, [error instanceof Error ? error.message : "cannot be sent"]);
  }
}

function renderBody({ connection, request, options }: Call, watch: Watch): WireBody {
  const { body } = request;
  if (body === null || typeof body === "string") return { body, length: null, streamed: false };
  let sent = 0;
  options.onSent?.(0);
  const wire = renderBytes(body, (bytes) => {
    watch.moved();
    options.onSent?.((sent += bytes));
  });
  // A browser takes a body whole and does not tell how it moves: no limit then, rather than one on the clock.
  watch.watchStall(wire.streamed ? connection.timeouts.stallMs : null);
  return wire;
}

/** JSON by the clock; bytes by their movement, see {@link renderBody}. */
function limitAttempt({ connection, endpoint, request, options, deadline }: Call, watch: Watch): void {
  if (request.body !== null && isBytes(endpoint.body) && !isEmpty(request.body)) return;
  const attemptMs = options.attemptMs ?? connection.timeouts.attemptMs;
  const left = deadline - connection.clock.now();
  if (left < attemptMs) watch.limit(Math.max(0, left), "total");
  else watch.limit(attemptMs);
}

function isEmpty(body: string | ByteBody): boolean {
  return body instanceof Uint8Array ? body.length === 0 : body instanceof Blob && body.size === 0;
}

function openBytes(connection: Connection, response: Response, watch: Watch): ByteAnswer {
  watch.limit(null);
  const source = response.body ?? new Blob([]).stream();
  return {
    status: response.status,
    headers: response.headers,
    body: guardStream(source, watch, connection.timeouts.stallMs, (error) => asSdkError(error, connection.baseUrl)),
  };
}

async function readOutput(connection: Connection, endpoint: EndpointDefinition, response: Response): Promise<unknown> {
  const { output } = endpoint;
  if (output === undefined || isBytes(output) || response.status === 204) {
    response.body?.cancel().catch(() => undefined); // Nothing is wanted of it.
    return undefined;
  }
  return decodeJson(endpoint, output, response, connection.contractBroken);
}

function idempotencyHeader(endpoint: EndpointDefinition, options: CallOptions): Record<string, string> {
  if (endpoint.method === "GET" || endpoint.effect === "read" || endpoint.effect === "append") return {};
  const key = options.idempotencyKey ?? crypto.randomUUID();
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new ContractError("request", endpoint.id, ["idempotencyKey: expected 1 to 255 visible ASCII characters"]);
  }
  return { [HEADERS.idempotencyKey]: key };
}

function totalLimit(connection: Connection, endpoint: EndpointDefinition, options: CallOptions): number {
  const carriesBytes = isBytes(endpoint.body) || isBytes(endpoint.output);
  return carriesBytes ? Number.POSITIVE_INFINITY : (options.totalMs ?? connection.timeouts.totalMs);
}

/** A stream can be sent once; an append depends on an offset that only its owner can learn anew. */
function isRepeatable(call: Call): boolean {
  return call.endpoint.effect !== "append" && isSendable(call);
}

/**
 * What makes something without an Idempotency-Key (sign-up, refresh, redeem) is repeated only when nothing was made: a second use of
 * a token or code whose first answer was lost would end what it made.
 */
function mayRepeat(endpoint: EndpointDefinition, error: unknown): boolean {
  const { method, effect } = endpoint;
  return method !== "POST" || effect !== "create" || takesIdempotencyKey(endpoint) || !mayHaveBeenDone(error);
}

/** Whether the body is still there for another attempt. */
function isSendable({ request: { body } }: Call): boolean {
  return body === null || typeof body === "string" || body instanceof Uint8Array || body instanceof Blob;
}

/** The earlier attempt may have deleted it: gone is what was asked for (decisions §1, "Delete status"). */
function isGoneAfterDelete(endpoint: EndpointDefinition, error: unknown): error is ApiError {
  if (endpoint.effect !== "delete" || !(error instanceof ApiError) || error.status !== 404) return false;
  return endpoint.output === undefined || (endpoint.otherStatuses ?? []).includes(204);
}

/** The refusal of a repeat, marked so that the caller can look whether the work is there. */
function asPerhapsDone(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, requestId, retryAfterMs, nextStep } = error;
  return new ApiError(error.code, error.message, { status, requestId, retryAfterMs, nextStep, perhapsDone: true });
}

/**
 * A change that cannot be made twice (restore, a version under If-Match): when a repeat is refused with `code`, `look` says what is
 * there now, and null when it is not what was asked for. A failing look leaves the refusal.
 */
export async function settleRepeat<Value>(
  change: Promise<Value>,
  code: ErrorCode,
  look: () => Promise<Value | null>,
): Promise<Value> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== code || !error.perhapsDone) throw error;
    const found = await look().catch(() => null);
    if (found === null) throw error;
    return found;
  }
}

function asSdkError(error: unknown, baseUrl: string): SdkError {
  if (error instanceof SdkError) return error;
  const code = errorCode(error);
  const { origin } = new URL(baseUrl);
  return new ConnectionError(`No answer from ${origin}${code === null ? "" : ` (${code})`}`, sanitizeCause(error));
}
