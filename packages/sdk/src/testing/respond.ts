/** From a request to a contract's input, and from an outcome to a response: the common parts of a mock and the fake. */
import { ERRORS, HEADERS, isBytes, describeIssues, type EndpointDefinition } from "@coffer/contract";
import * as z from "zod/mini";
import { Failure, Reply, type Input, type Outcome } from "./handlers.ts";

const MAX_JSON_BYTES = 1024 * 1024;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Parses every section as the server would. Throws Failure. */
export async function parseInput<E extends EndpointDefinition>(
  endpoint: E,
  request: Request,
  params: Readonly<Record<string, string>>,
): Promise<Input<E>> {
  const input: Record<string, unknown> = {};
  if (endpoint.params) input["params"] = parse(endpoint.params, params, "params");
  if (endpoint.query)
    input["query"] = parse(endpoint.query, Object.fromEntries(new URL(request.url).searchParams), "query");
  if (endpoint.headers) input["headers"] = parse(endpoint.headers, Object.fromEntries(request.headers), "headers");
  if (endpoint.body) input["body"] = await parseBody(endpoint, request);
  // Each section was parsed by this endpoint's own schema; the type cannot follow through the loop over names.
  return input as Input<E>;
}

/** The response of a success. Throws when the outcome is outside the contract: then the test that made it is wrong. */
export function renderOutcome<E extends EndpointDefinition>(
  endpoint: E,
  request: Request,
  outcome: Outcome<E>,
): Response {
  const reply: Reply<unknown> = outcome instanceof Reply ? outcome : new Reply<unknown>(outcome);
  const status = reply.status ?? endpoint.status;
  if (status !== endpoint.status && !(endpoint.otherStatuses ?? []).includes(status))
    throw outside(endpoint, `status ${String(status)} is not declared`);
  const headers = standardHeaders(request, reply.headers);
  if (endpoint.method === "HEAD" || endpoint.output === undefined || reply.body === undefined) {
    if (reply.body !== undefined) throw outside(endpoint, "a body where none is declared");
    return new Response(null, { status, headers });
  }
  if (isBytes(endpoint.output)) {
    if (reply.body instanceof ReadableStream) return new Response(reply.body, { status, headers });
    if (!(reply.body instanceof Uint8Array)) throw outside(endpoint, "expected bytes");
    if (!headers.has("content-length")) headers.set("content-length", String(reply.body.length));
    return new Response(new Uint8Array(reply.body), { status, headers });
  }
  const checked = z.safeParse(endpoint.output, reply.body);
  if (!checked.success) throw outside(endpoint, describeIssues(checked.error.issues, "body").join("; "));
  headers.set("content-type", "application/json; charset=utf-8");
  return new Response(JSON.stringify(reply.body), { status, headers });
}

/** The response of an error: exactly `{ error }`, its code in the header. */
export function renderFailure(request: Request, failure: Failure): Response {
  const { status } = ERRORS[failure.code];
  const headers = standardHeaders(request, { ...failure.headers, [HEADERS.errorCode]: failure.code });
  if (status === 401) headers.set("www-authenticate", 'Bearer error="invalid_token"');
  if ((status === 429 || status === 503 || status === 507) && !headers.has("retry-after"))
    headers.set("retry-after", "1");
  if (request.method === "HEAD") return new Response(null, { status, headers });
  headers.set("content-type", "application/json; charset=utf-8");
  return new Response(JSON.stringify({ error: failure.message }), { status, headers });
}

function standardHeaders(request: Request, own: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(own);
  const asked = request.headers.get(HEADERS.requestId) ?? "";
  headers.set(HEADERS.requestId, UUID.test(asked) ? asked : crypto.randomUUID());
  const version = request.headers.get(HEADERS.apiVersion);
  if (version !== null) headers.set(HEADERS.apiVersion, version);
  return headers;
}

async function parseBody(endpoint: EndpointDefinition, request: Request): Promise<unknown> {
  const { body } = endpoint;
  if (body === undefined) return undefined;
  const bytes = new Uint8Array(await request.arrayBuffer());
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (isBytes(body)) {
    if (endpoint.bodyOptional === true && bytes.length === 0) return bytes;
    if (body.mediaType !== undefined && type !== body.mediaType) throw new Failure("unsupported_media_type");
    return bytes;
  }
  if (endpoint.bodyOptional === true && bytes.length === 0) return undefined;
  if (type !== "application/json") throw new Failure("unsupported_media_type");
  if (bytes.length > MAX_JSON_BYTES) throw new Failure("body_too_large");
  return parse(body, parseJson(bytes), "body");
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Failure("malformed_json");
  }
}

function parse<Schema extends z.core.$ZodType>(schema: Schema, value: unknown, section: string): z.core.output<Schema> {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  throw new Failure("validation_failed", describeIssues(result.error.issues, section)[0] ?? section);
}

function outside(endpoint: EndpointDefinition, problem: string): Error {
  return new Error(`The outcome of ${endpoint.id} is outside the contract: ${problem}`);
}
