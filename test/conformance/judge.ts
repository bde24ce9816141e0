/** What the contract says of any answer, whatever was asked. */
import {
  ERRORS,
  errorsOf,
  fitsStatus,
  HEADERS,
  isBytes,
  isErrorCode,
  type EndpointDefinition,
  type ErrorCode,
} from "@coffer/contract";
import * as z from "zod/mini";

/** An answer, read to its end. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export async function receive(response: Response): Promise<Received> {
  const isFeed = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const body = isFeed ? await readFeed(response) : await response.bytes();
  return { status: response.status, headers: response.headers, body };
}

/** A feed has no end: it is read until it has told an event, or has been silent for so long, in milliseconds. */
const SILENCE = 5_000;

async function readFeed(response: Response): Promise<Uint8Array> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const timer = setTimeout(() => void reader?.cancel(), SILENCE);
  let text = "";
  while (!/^data:.*\n\n/m.test(text)) {
    const part = await reader?.read();
    if (part?.value === undefined) break;
    text += part.value;
  }
  clearTimeout(timer);
  await reader?.cancel();
  return new TextEncoder().encode(text);
}

/**
 * Codes that may answer any request, because they are about HTTP itself: its framing, its size, a Content-Type that is no
 * media type, an API-Version that is no date.
 */
const ABOUT_HTTP: readonly ErrorCode[] = [
  "malformed_request",
  "headers_too_large",
  "request_timeout",
  "body_truncated",
  "unsupported_media_type",
  "validation_failed",
];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Everything in the answer that breaks the contract; empty when it holds. `e` is null for a request to no endpoint,
 * and `method` the method that was really sent.
 */
export function judge(e: EndpointDefinition | null, method: string, answer: Received): string[] {
  const problems: string[] = [];
  if (!UUID.test(answer.headers.get(HEADERS.requestId) ?? "")) problems.push("X-Request-Id is not a UUID");
  const success = e !== null && [e.status, ...(e.otherStatuses ?? [])].includes(answer.status);
  if (success) problems.push(...judgeSuccess(e, method, answer));
  else if (answer.status < 400) problems.push(`status ${String(answer.status)} is not declared`);
  else problems.push(...judgeError(e, method, answer));
  return problems;
}

function judgeSuccess(e: EndpointDefinition, method: string, answer: Received): string[] {
  const bodiless = method === "HEAD" || e.output === undefined || answer.status === 204 || answer.status === 304;
  if (bodiless)
    return answer.body.length === 0 ? [] : [`a body of ${String(answer.body.length)} bytes where none is declared`];
  if (isBytes(e.output)) return [];
  const type = answer.headers.get("content-type") ?? "";
  const problems = /^application\/json\b/.test(type) ? [] : [`Content-Type is "${type}", not application/json`];
  const value = parseJson(answer.body);
  if (value === undefined) return [...problems, "the body is not JSON"];
  return [...problems, ...judgeValue(e.output, value)];
}

/** Holds a value to a schema strictly: fields the schema does not name are problems too. */
export function judgeValue(schema: z.core.$ZodType, value: unknown): string[] {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return unknownFields(value, parsed.data, "body");
  return parsed.error.issues.map((issue) => `${["body", ...issue.path].join(".")}: ${issue.message}`);
}

/** A parsed object holds the fields its schema names; what the wire had beyond them is unknown. */
function unknownFields(raw: unknown, parsed: unknown, path: string): string[] {
  if (typeof raw !== "object" || raw === null || typeof parsed !== "object" || parsed === null) return [];
  const known = new Map<string, unknown>(Object.entries(parsed));
  return Object.entries(raw).flatMap(([name, field]) => {
    const where = `${path}.${name}`;
    return known.has(name) ? unknownFields(field, known.get(name), where) : [`${where}: unknown field`];
  });
}

function judgeError(e: EndpointDefinition | null, method: string, answer: Received): string[] {
  const problems = method === "HEAD" ? [] : judgeErrorBody(answer);
  const code = answer.headers.get(HEADERS.errorCode) ?? "";
  if (!isErrorCode(code)) return [...problems, `X-Error-Code is "${code}", which the catalogue does not have`];
  if (!fitsStatus(code, answer.status)) {
    problems.push(`X-Error-Code ${code} goes with ${String(ERRORS[code].status)}, not ${String(answer.status)}`);
  }
  const declared = e === null || [...errorsOf(e), ...ABOUT_HTTP].includes(code);
  const otherMethod = e !== null && e.method !== method;
  if (!declared && !otherMethod) problems.push(`error ${code} is not declared by the endpoint`);
  return [...problems, ...judgeErrorHeaders(answer)];
}

function judgeErrorBody(answer: Received): string[] {
  const value = parseJson(answer.body);
  const exact =
    typeof value === "object" &&
    value !== null &&
    Object.keys(value).length === 1 &&
    "error" in value &&
    typeof value.error === "string" &&
    value.error.length > 0;
  const problems = exact ? [] : [`the error body is not exactly { error: string }: ${excerpt(answer.body)}`];
  if (!/^application\/json\b/.test(answer.headers.get("content-type") ?? ""))
    problems.push("the error body is not application/json");
  return problems;
}

const NEEDED_BY_STATUS: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  429: ["Retry-After"],
  503: ["Retry-After"],
  507: ["Retry-After"],
};

function judgeErrorHeaders(answer: Received): string[] {
  const needed = NEEDED_BY_STATUS[answer.status] ?? [];
  return needed.filter((name) => !answer.headers.has(name)).map((name) => `${String(answer.status)} without ${name}`);
}

/** The JSON value of a body, undefined when it is none. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as unknown;
  } catch {
    return undefined;
  }
}

function excerpt(body: Uint8Array): string {
  return JSON.stringify(new TextDecoder().decode(body.subarray(0, 200)));
}
