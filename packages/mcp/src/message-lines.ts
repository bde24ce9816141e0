/**
 * The client's lines as messages of JSON-RPC 2.0. A line that is none is answered, with its id where it has one: a client that waits for
 * an answer would wait for ever.
 */
import type * as z from "zod/mini";
import { describeIssues } from "@coffer/contract";

/** -32700 no JSON, -32600 no message, -32602 a message with params that cannot be taken. */
export const RPC_ERRORS = { parse: -32_700, request: -32_600, params: -32_602, internal: -32_603 } as const;

type Id = string | number | null;

export interface Refusal {
  readonly jsonrpc: "2.0";
  readonly id: Id;
  readonly error: { readonly code: number; readonly message: string };
}

export type ClientLine =
  | { readonly kind: "message"; readonly message: Readonly<Record<string, unknown>> }
  | { readonly kind: "refused"; readonly answer: Refusal }
  /** An answer to this server that cannot be used. Its id is the server's own, so an answer to it would look like one to the client's call. */
  | { readonly kind: "dropped" };

export const refuse = (code: number, message: string, id: Id = null): { kind: "refused"; answer: Refusal } => ({
  kind: "refused",
  answer: { jsonrpc: "2.0", id, error: { code, message } },
});

/** `takesBatches`: only the revision 2025-03-26 has them. Their messages are then taken one by one. */
export function readLine(line: string, allowsBatches: boolean): ClientLine[] {
  let value: unknown;
  try {
    // Some programs begin each line, or their first one, with a byte order mark.
    value = JSON.parse(line.replace(/^\uFEFF+/, ""));
  } catch {
    return [refuse(RPC_ERRORS.parse, "The line is not JSON: send each message as JSON in UTF-8 on a line of its own")];
  }
  if (!Array.isArray(value)) return [readMessage(value)];
  if (allowsBatches && value.length > 0) return value.map(readMessage);
  const sentence =
    value.length === 0
      ? "The batch is empty"
      : "Only the revision 2025-03-26 has batches: send each message on a line of its own";
  const waiting = value.flatMap((each: unknown) => (isObject(each) && idOf(each) !== null ? [idOf(each)] : []));
  return (waiting.length === 0 ? [null] : waiting).map((id) => refuse(RPC_ERRORS.request, sentence, id));
}

/** A member that is null is absent, and members that the protocol does not have are left out. */
function readMessage(value: unknown): ClientLine {
  if (!isObject(value)) return refuse(RPC_ERRORS.request, "A message is one JSON object");
  const { jsonrpc, id, method, result, error } = value;
  const problem = (sentence: string, code: number = RPC_ERRORS.request) => refuse(code, sentence, idOf(value));
  if (method === undefined && (result !== undefined || error !== undefined))
    return jsonrpc === "2.0" && idOf(value) !== null ? { kind: "message", message: value } : { kind: "dropped" };
  if (jsonrpc !== "2.0") return problem('jsonrpc is missing: a message has "jsonrpc": "2.0"');
  if (id !== undefined && !isId(id)) return problem("id is neither text nor a whole number");
  if (typeof method !== "string") return problem("method is missing: a message names its method as text");
  const params = withoutNulls(value["params"] ?? {});
  if (!isObject(params)) return problem("params is not an object", RPC_ERRORS.params);
  const meta = params["_meta"] ?? {};
  if (!isObject(meta)) return problem("params._meta is not an object", RPC_ERRORS.params);
  const token = meta["progressToken"];
  if (token !== undefined && !isId(token))
    return problem("params._meta.progressToken is neither text nor a whole number", RPC_ERRORS.params);
  const message = { jsonrpc, ...(id === undefined ? {} : { id }), method };
  return { kind: "message", message: value["params"] == null ? message : { ...message, params } };
}

/** What tools take and what users answered, where null may mean something. */
const OWN_RULES = new Set(["arguments", "inputResponses"]);

function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]): [string, unknown][] =>
      member === null ? [] : [[name, OWN_RULES.has(name) ? member : withoutNulls(member)]],
    ),
  );
}

/** The library's words for params of the wrong form are the issues of its schema as JSON, and its code is that of a fault of the server. */
export function inPlainWords<T extends { readonly error: { readonly code: number; readonly message: string } }>(
  answer: T,
): T {
  const { code, message } = answer.error;
  const issues = code === RPC_ERRORS.internal || code === RPC_ERRORS.params ? issuesIn(message) : null;
  if (issues === null) return answer;
  const sentence = `The request is not valid: ${describeIssues(issues, "").join("; ")}`;
  return { ...answer, error: { code: RPC_ERRORS.params, message: sentence } };
}

function issuesIn(message: string): z.core.$ZodIssue[] | null {
  const start = message.indexOf("[");
  if (start === -1) return null;
  try {
    const issues: unknown = JSON.parse(message.slice(start));
    return Array.isArray(issues) && issues.length > 0 && issues.every(isIssue) ? issues : null;
  } catch {
    return null;
  }
}

function isIssue(value: unknown): value is z.core.$ZodIssue {
  return isObject(value) && typeof value["code"] === "string" && Array.isArray(value["path"]);
}

function idOf({ id }: Readonly<Record<string, unknown>>): Id {
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function isId(id: unknown): boolean {
  return typeof id === "string" || Number.isInteger(id);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
