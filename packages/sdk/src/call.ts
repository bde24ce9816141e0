import { HEADERS, isBytes, type CallInput, type EndpointDefinition, type Output } from "@coffer/contract";
import { renderBytes, type ByteBody } from "./byte-body.ts";
import { decodeError, decodeJson, isSuccess, requestIdOf } from "./decode-response.ts";
import { encodeRequest, type EncodedRequest } from "./encode-request.ts";
import { ApiError, ConnectionError, SdkError } from "./errors.ts";
import { guardStream } from "./guarded-stream.ts";
import type { Connection } from "./options.ts";
import { errorCode, sanitizeCause } from "./redaction.ts";
import { isWorthRepeating, mayHaveBeenDone, retryDelay } from "./retry.ts";
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
  const request = encodeRequest(endpoint, input);
  const answer = await sendRepeatedly(connection, endpoint, request, options);
  // `decodeJson` has checked the output against this endpoint's schema; the type cannot follow through `unknown`.
  return answer as Answer<E>;
}

async function sendRepeatedly(
  connection: Connection,
  endpoint: EndpointDefinition,
  request: EncodedRequest,
  options: CallOptions,
): Promise<RawAnswer> {
  const { clock, retry, budget } = connection;
  const headers = { ...request.headers, ...idempotencyHeader(endpoint, options) };
  const limit = isRepeatable(endpoint, request) ? (options.retries ?? retry.limit) : 0;
  const deadline = clock.now() + totalLimit(connection, endpoint, options);
  for (let attempt = 1, done = false; ; attempt += 1) {
    try {
      const answer = await attemptOnce(connection, endpoint, { ...request, headers }, options, { attempt, deadline });
      budget.succeeded();
      return answer;
    } catch (error) {
      if (done && isGoneAfterDelete(endpoint, error))
        return { status: 204, headers: new Headers(), requestId: error.requestId, output: undefined };
      if (attempt > limit || !isWorthRepeating(error)) throw error;
      const delay = retryDelay(retry, attempt, error, () => clock.random());
      if (clock.now() + delay >= deadline || !budget.take()) throw error;
      done ||= mayHaveBeenDone(error);
      await pause(clock, delay, options.signal);
    }
  }
}

async function attemptOnce(
  connection: Connection,
  endpoint: EndpointDefinition,
  request: EncodedRequest,
  options: CallOptions,
  turn: { readonly attempt: number; readonly deadline: number },
): Promise<RawAnswer> {
  const watch = new Watch(connection.clock, options.signal);
  let kept = false;
  try {
    startLimits(watch, connection, endpoint, request, options, turn.deadline);
    const response = await exchange(connection, endpoint, request, options, watch, turn.attempt);
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
    if (!kept) watch[Symbol.dispose]();
  }
}

async function exchange(
  connection: Connection,
  endpoint: EndpointDefinition,
  request: EncodedRequest,
  options: CallOptions,
  watch: Watch,
  attempt: number,
): Promise<Response> {
  const headers = new Headers({ accept: "application/json", ...connection.identification, ...request.headers });
  if (attempt > 1) headers.set(HEADERS.retryCount, String(attempt - 1));
  if (endpoint.auth === "credential") {
    const secret = await watch.race(connection.credential());
    if (secret !== null) headers.set("authorization", `Bearer ${secret.reveal()}`);
  }
  const transport = throughMiddleware(connection.transport, connection.middleware, {
    endpointId: endpoint.id,
    attempt,
  });
  return watch.race(transport(buildRequest(connection.baseUrl, request, headers, watch, options)));
}

function buildRequest(
  baseUrl: string,
  request: EncodedRequest,
  headers: Headers,
  watch: Watch,
  options: CallOptions,
): Request {
  // `redirect: "error"`: the credential stays with this origin, and undici does not keep a copy of the body.
  const init: RequestInit & { duplex?: "half" } = {
    method: request.method,
    headers,
    signal: watch.signal,
    redirect: "error",
  };
  if (typeof request.body === "string") init.body = request.body;
  else if (request.body !== null) {
    let sent = 0;
    options.onSent?.(0);
    const wire = renderBytes(request.body, (bytes) => {
      watch.moved();
      options.onSent?.((sent += bytes));
    });
    init.body = wire.body;
    if (wire.streamed) init.duplex = "half";
    if (wire.length !== null) headers.set("content-length", String(wire.length));
  }
  return new Request(`${baseUrl}${request.target}`, init);
}

function startLimits(
  watch: Watch,
  connection: Connection,
  endpoint: EndpointDefinition,
  request: EncodedRequest,
  options: CallOptions,
  deadline: number,
): void {
  const { timeouts, clock } = connection;
  if (request.body !== null && isBytes(endpoint.body)) {
    watch.watchStall(timeouts.stallMs);
    return;
  }
  const attemptMs = options.attemptMs ?? timeouts.attemptMs;
  const left = deadline - clock.now();
  if (left < attemptMs) watch.limit(Math.max(0, left), "total");
  else watch.limit(attemptMs);
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
  if (endpoint.effect === "read" || endpoint.effect === "append") return {};
  return { [HEADERS.idempotencyKey]: options.idempotencyKey ?? crypto.randomUUID() };
}

function totalLimit(connection: Connection, endpoint: EndpointDefinition, options: CallOptions): number {
  const carriesBytes = isBytes(endpoint.body) || isBytes(endpoint.output);
  return carriesBytes ? Number.POSITIVE_INFINITY : (options.totalMs ?? connection.timeouts.totalMs);
}

/** A stream can be sent once; an append depends on an offset that only its owner can learn anew. */
function isRepeatable(endpoint: EndpointDefinition, request: EncodedRequest): boolean {
  if (endpoint.effect === "append") return false;
  return (
    request.body === null ||
    typeof request.body === "string" ||
    request.body instanceof Uint8Array ||
    request.body instanceof Blob
  );
}

/** The earlier attempt may have deleted it: gone is what was asked for (decisions §1, "Delete status"). */
function isGoneAfterDelete(endpoint: EndpointDefinition, error: unknown): error is ApiError {
  if (endpoint.effect !== "delete" || !(error instanceof ApiError) || error.status !== 404) return false;
  return endpoint.output === undefined || (endpoint.otherStatuses ?? []).includes(204);
}

function asSdkError(error: unknown, baseUrl: string): SdkError {
  if (error instanceof SdkError) return error;
  const code = errorCode(error);
  const { origin } = new URL(baseUrl);
  return new ConnectionError(`No answer from ${origin}${code === null ? "" : ` (${code})`}`, sanitizeCause(error));
}
