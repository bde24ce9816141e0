/** One attempt of a call: a request under its time limits, and what its answer says. */
import { type EndpointDefinition, HEADERS, isBytes, isError } from "@coffer/contract";
import { isBlob } from "./accepted-bytes.ts";
import { loadErrorSentences } from "./load-error-sentences.ts";
import { guardStream } from "./guarded-stream.ts";
import { renderBytes, type WireBody } from "./byte-body.ts";
import type { BinaryBody } from "./accepted-bytes.ts";
import { decodeError, decodeJson, isSuccess, requestIdOf } from "./decode-response.ts";
import type { EncodedRequest } from "./encode-request.ts";
import {
  ConnectionError,
  ContractError,
  credentialMissing,
  redirectedError,
  SdkError,
  TimeoutError,
} from "./errors.ts";
import type { Bearer, Connection, CallOptions } from "../connection/options.ts";
import { errorCode, sanitizeCause } from "./redaction.ts";
import { canStreamRequests, redirectMode } from "./runtime.ts";
import { throughMiddleware, type TransportRequest } from "./transports.ts";
import { underWatch, type Watch } from "./time-limit.ts";

/** One call with everything that its attempts share. */
export interface Call {
  readonly connection: Connection;
  readonly endpoint: EndpointDefinition;
  readonly request: EncodedRequest;
  readonly options: CallOptions;
  /** By the connection's clock, in milliseconds. */
  readonly deadline: number;
  /** Sent with the last attempt; a call renews it once. */
  bearer: Bearer | null;
  renewed: boolean;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | null;
  readonly output: unknown;
}

/** A byte answer. Read `body` to its end or cancel it; until then the connection is in use. */
export interface ByteAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array>;
}

/** Rejects with an SdkError. `attempt` counts from 1. */
export async function attemptOnce(call: Call, attempt: number): Promise<RawAnswer> {
  const { connection, options } = call;
  try {
    return await underWatch(connection.clock, options.signal, async (watch) => {
      limitAttempt(call, watch);
      return await readAnswer(call, await sendRequest(call, watch, attempt), watch);
    });
  } catch (error) {
    throw await describeFailure(error, connection.baseUrl);
  }
}

async function sendRequest(call: Call, watch: Watch, attempt: number): Promise<Response> {
  const { connection, endpoint } = call;
  call.bearer = endpoint.auth === "credential" ? await connection.credential() : null;
  if (endpoint.auth === "credential" && call.bearer === null) throw credentialMissing(endpoint.id);
  // Whoever waited for this attempt has its failure by now: nothing is sent any more.
  watch.signal.throwIfAborted();
  const context = { endpointId: endpoint.id, attempt };
  const transport = throughMiddleware(connection.transport, connection.middleware, context);
  const { body } = call.request;
  const wire =
    body === null || typeof body === "string" ? { body, length: null, streamed: false } : renderBody(call, body, watch);
  return refuseRedirect(await transport(buildRequest(call, watch, attempt, wire)), connection.baseUrl);
}

/**
 * No redirect is followed, since a credential must not travel to another origin. With `redirect: "manual"` the runtime
 * hands the redirect out, and a caller's `fetch` may have followed it.
 */
function refuseRedirect(response: Response, baseUrl: string): Response {
  const { redirected, status, type } = response;
  const isRedirect = redirected || type === "opaqueredirect" || status === 0 || (status >= 300 && status < 400);
  if (!isRedirect || status === 304) return response;
  response.body?.cancel().catch(() => undefined);
  throw redirectedError(new URL(baseUrl).origin);
}

async function readAnswer({ connection, endpoint }: Call, response: Response, watch: Watch): Promise<RawAnswer> {
  const { headers, status } = response;
  if (watch.failure !== null) {
    // A transport that ignores the signal: nobody waits for this answer any more.
    response.body?.cancel().catch(() => undefined);
    throw watch.failure;
  }
  if (!isSuccess(endpoint, status)) throw await decodeError(response, Date.now());
  const answer = { status, headers, requestId: requestIdOf(response) };
  if (!isBytes(endpoint.output)) return { ...answer, output: await readOutput(connection, endpoint, response) };
  watch.keep();
  return { ...answer, output: openBytes(connection, response, watch) };
}

/** Throws ContractError for a value that cannot be sent, such as one that no header can carry. */
function buildRequest(call: Call, watch: Watch, attempt: number, wire: WireBody): TransportRequest {
  const { connection, endpoint, request, bearer } = call;
  try {
    const headers = new Headers({ accept: "application/json", ...connection.identification, ...request.headers });
    if (attempt > 1) headers.set(HEADERS.retryCount, String(attempt - 1));
    if (bearer?.secret != null) headers.set("authorization", `Bearer ${bearer.secret.reveal()}`);
    if (bearer?.userId != null) headers.set(HEADERS.devUserId, bearer.userId);
    if (wire.length !== null) headers.set("content-length", String(wire.length));
    return {
      url: `${connection.baseUrl}${request.target}`,
      method: request.method,
      headers,
      body: wire.body,
      signal: watch.signal,
      redirect: redirectMode(),
      ...(wire.streamed ? { duplex: "half" } : {}),
    };
  } catch (error) {
    throw new ContractError("request", endpoint.id, [isError(error) ? error.message : "cannot be sent"]);
  }
}

/** Throws ContractError for a stream where only bytes go. */
function renderBody({ connection, endpoint, options }: Call, body: BinaryBody, watch: Watch): WireBody {
  let sent = 0;
  options.onSent?.(0);
  const wire = renderBytes(body, {
    endpointId: endpoint.id,
    streams: canStreamRequests(),
    moved: (bytes) => {
      watch.moved();
      options.onSent?.((sent += bytes));
    },
    failed: (error) => {
      watch.end(error);
    },
  });
  // A browser takes a body whole and does not report how it moves. So there is no limit here, rather than one by the
  // clock.
  watch.watchStall(wire.streamed ? connection.timeouts.stallMs : null);
  return wire;
}

/** JSON by the clock; bytes by their movement, see {@link renderBody}. */
export function limitAttempt({ connection, endpoint, request, options, deadline }: Call, watch: Watch): void {
  if (request.body !== null && isBytes(endpoint.body) && !isEmpty(request.body)) return;
  const attemptMs = options.attemptMs ?? connection.timeouts.attemptMs;
  const remainingMs = deadline - connection.clock.now();
  if (remainingMs < attemptMs) watch.limit(Math.max(0, remainingMs), "total");
  else watch.limit(attemptMs);
}

function isEmpty(body: string | BinaryBody): boolean {
  if (typeof body === "string") return false;
  return body instanceof Uint8Array ? body.length === 0 : isBlob(body) && body.size === 0;
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
    response.body?.cancel().catch(() => undefined); // Nobody wants the body.
    return undefined;
  }
  return decodeJson(endpoint, output, response, connection.contractBroken);
}

function asSdkError(error: unknown, baseUrl: string): SdkError {
  if (error instanceof SdkError) return error;
  const code = errorCode(error);
  const { origin } = new URL(baseUrl);
  return new ConnectionError(`No answer from ${origin}${code === null ? "" : ` (${code})`}`, sanitizeCause(error));
}

/** The failure with its cause in words, and what to set. If the words cannot be loaded, the system's code must do. */
async function describeFailure(error: unknown, baseUrl: string): Promise<SdkError> {
  const isLate = error instanceof TimeoutError && error.limit !== "stall";
  if (error instanceof SdkError && !isLate) return error;
  const words = await loadErrorSentences();
  if (words === null) return asSdkError(error, baseUrl);
  if (isLate) {
    const step = words.proxyStep(new URL(baseUrl));
    return step === null ? error : new TimeoutError(error.limit, error.afterMs, step);
  }
  const { message, ...facts } = (await words.pageWords(error, baseUrl)) ?? words.connectionWords(error, baseUrl);
  return new ConnectionError(message, sanitizeCause(error), facts);
}
