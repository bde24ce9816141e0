/** The sections of a request, parsed with the contract's schemas. */
import { isBytes, describeIssues, type EndpointDefinition } from "@coffer/contract";
import * as z from "zod/mini";
import { ServiceError } from "../service-error.ts";

type Schema = z.core.$ZodType;
type Section = "params" | "query" | "headers" | "body";

const MAX_MESSAGE = 300;

/** Parses one section, or throws `validation_failed` as `<section>.<path>: <reason>`. */
export function parseSection(section: Section, schema: Schema, value: unknown): unknown {
  const result = z.safeDecode(schema, value);
  if (result.success) return result.data;
  throw new ServiceError("validation_failed", renderIssue(section, result.error));
}

/** Parses params, query and headers where the endpoint declares them. Bodies are read after this. */
export function parseSections(
  endpoint: EndpointDefinition,
  request: { readonly params: unknown; readonly query: unknown; readonly headers: unknown },
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  if (endpoint.params) input["params"] = parseSection("params", endpoint.params, request.params);
  if (endpoint.query) input["query"] = parseSection("query", endpoint.query, request.query);
  if (endpoint.headers) input["headers"] = parseSection("headers", endpoint.headers, request.headers);
  return input;
}

/** The media type that a byte body must have, null when any will do. */
export function requiredMediaType(endpoint: EndpointDefinition): string | null {
  return isBytes(endpoint.body) ? (endpoint.body.mediaType ?? null) : null;
}

/** The first problem: where it is and what is allowed there; never the value itself. */
function renderIssue(section: Section, error: z.core.$ZodError): string {
  return (describeIssues(error.issues, section)[0] ?? section).slice(0, MAX_MESSAGE);
}
