import {
  HEADERS,
  isBytes,
  takesIdempotencyKey,
  type CallInput,
  type EndpointDefinition,
  type Output,
} from "@coffer/contract";
import { isBlob } from "./accepted-bytes.ts";
import { attemptOnce, limitAttempt, type ByteAnswer, type Call, type RawAnswer } from "./attempt.ts";
import type { ByteBody } from "./accepted-bytes.ts";
import { encodeRequest } from "./encode-request.ts";
import { requireNamedIds, type ListOptions } from "./required-ids.ts";
import { ApiError, ContractError, isAnswered, type SdkError } from "./errors.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { isWorthRepeating, mayHaveBeenDone, Repeats } from "./retry.ts";
import { underWatch } from "./time-limit.ts";

export type { ByteAnswer } from "./attempt.ts";

/** The result of a call: the contract's output; `undefined` where the endpoint may answer without a body. */
export type CallOutput<E extends EndpointDefinition> =
  | Output<E, ByteAnswer>
  | (E extends { otherStatuses: readonly (infer Status)[] } ? (204 extends Status ? undefined : never) : never);

/** An output with the facts around it. */
export interface Answer<E extends EndpointDefinition> {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | null;
  readonly output: CallOutput<E>;
}

/**
 * Sends one call of the contract: checks and encodes the input, repeats failures that may pass, checks the answer.
 * Rejects with an {@link SdkError}; `failureOf` types those that the endpoint declares.
 */
export async function send<E extends EndpointDefinition>(
  connection: Connection,
  endpoint: E,
  input: CallInput<E, ByteBody>,
  options: CallOptions & ListOptions = {},
): Promise<Answer<E>> {
  const encoded = await encodeRequest(endpoint, input);
  const request = { ...encoded, headers: { ...encoded.headers, ...idempotencyHeader(endpoint, options) } };
  const deadline = connection.clock.now() + totalLimit(connection, endpoint, options);
  const answer = await sendRepeatedly({
    connection,
    endpoint,
    request,
    options,
    deadline,
    bearer: null,
    renewed: false,
  });
  const output = requireNamedIds(endpoint, input, answer.output, options);
  // `decodeJson` has checked the output against this endpoint's schema; the type cannot follow through `unknown`.
  return { ...answer, output } as Answer<E>;
}

/** The output of one call, without the facts around it. */
export async function callOn<E extends EndpointDefinition>(
  connection: Connection,
  endpoint: E,
  input: CallInput<E, ByteBody>,
  options?: CallOptions & ListOptions,
): Promise<CallOutput<E>> {
  return (await send(connection, endpoint, input, options)).output;
}

async function sendRepeatedly(call: Call): Promise<RawAnswer> {
  const { connection, endpoint, options } = call;
  const retries = isRepeatable(call) ? options.retries : 0;
  const repeats = new Repeats(connection, { retries, signal: options.signal, deadline: call.deadline });
  for (let attempt = 1, perhapsDone = false; ; attempt += 1) {
    try {
      const answer = await attemptOnce(call, attempt);
      connection.budget.succeeded();
      return answer;
    } catch (error) {
      if (await renewCredential(call, error)) continue;
      if (perhapsDone && isGoneAfterDelete(endpoint, error)) {
        return { status: 204, headers: new Headers(), requestId: error.requestId, output: undefined };
      }
      try {
        await repeats.backOff(error, isWorthRepeating(error) && mayRepeat(endpoint, error));
      } catch (final) {
        throw perhapsDone ? asPerhapsDone(final) : final;
      }
      perhapsDone ||= mayHaveBeenDone(error);
    }
  }
}

/** Replaces a session's access token that the service refused, once in a call. A body that is used up cannot be sent again. */
async function renewCredential(call: Call, error: unknown): Promise<boolean> {
  const { bearer, renewed, connection, options } = call;
  if (renewed || bearer?.renew == null || !isSendable(call)) return false;
  if (!(error instanceof ApiError) || error.code !== "invalid_credential") return false;
  call.renewed = true;
  await underWatch(connection.clock, options.signal, (watch) => {
    limitAttempt(call, watch);
    return bearer.renew?.() ?? Promise.resolve();
  });
  return true;
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

/** A stream can be sent once. An append depends on an offset that only its owner can read again. */
function isRepeatable(call: Call): boolean {
  return call.endpoint.effect !== "append" && isSendable(call);
}

/**
 * A call that creates without an Idempotency-Key (sign-up, refresh, redeem) is repeated only if nothing was made. A
 * second use of a token or code whose first answer was lost would end what it made.
 */
function mayRepeat(endpoint: EndpointDefinition, error: unknown): boolean {
  const { method, effect } = endpoint;
  return method !== "POST" || effect !== "create" || takesIdempotencyKey(endpoint) || !mayHaveBeenDone(error);
}

/** Whether the body is still there for another attempt. */
function isSendable({ request: { body } }: Call): boolean {
  return body === null || typeof body === "string" || body instanceof Uint8Array || isBlob(body);
}

/** The earlier attempt may have deleted it, and then the caller has what it wanted (decisions §1, "Delete status"). */
function isGoneAfterDelete(endpoint: EndpointDefinition, error: unknown): error is SdkError {
  if (endpoint.effect !== "delete" || !isAnswered(error) || error.status !== 404) return false;
  return endpoint.output === undefined || (endpoint.otherStatuses ?? []).includes(204);
}

/** The refusal of a repeat, marked so that the caller can check whether the work was done. */
function asPerhapsDone(error: unknown): unknown {
  return isAnswered(error) ? Object.assign(error, { perhapsDone: true }) : error;
}
