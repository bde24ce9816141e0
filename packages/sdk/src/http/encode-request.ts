import { isBytes, type CallInput, type EndpointDefinition } from "@coffer/contract";
import * as z from "zod/mini";
import { ACCEPTED_BYTES, acceptBytes } from "./accepted-bytes.ts";
import { loadErrorSentences } from "./load-error-sentences.ts";
import type { BinaryBody, ByteBody } from "./accepted-bytes.ts";
import { ContractError } from "./errors.ts";

/** A request as the contract describes it: everything but credential, signal and the body's bytes. */
export interface EncodedRequest {
  readonly method: string;
  /** Path and query, beginning with a slash. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, bytes, or nothing. */
  readonly body: string | BinaryBody | null;
}

type SectionName = "params" | "query" | "headers" | "body";
type Sections = Readonly<Partial<Record<SectionName, unknown>>>;

/** Checks the input against the endpoint's schemas and encodes it. Rejects with ContractError before anything is sent. */
export async function encodeRequest<E extends EndpointDefinition>(
  endpoint: E,
  input: CallInput<E, ByteBody>,
): Promise<EncodedRequest> {
  const sections: Sections = input;
  refuseUndeclared(endpoint, sections);
  const params = await encodeFields(endpoint, "params", sections.params);
  const query = await encodeFields(endpoint, "query", sections.query);
  const headers = await encodeFields(endpoint, "headers", sections.headers);
  const body = await encodeBody(endpoint, sections.body);
  if (typeof body === "string") headers["content-type"] = "application/json";
  else if (body !== null && isBytes(endpoint.body))
    headers["content-type"] ??= endpoint.body.mediaType ?? "application/octet-stream";
  return { method: endpoint.method, target: renderTarget(endpoint.path, params, query), headers, body };
}

function refuseUndeclared(endpoint: EndpointDefinition, sections: Sections): void {
  const sectionNames: readonly string[] = ["params", "query", "headers", "body"];
  const declared: Sections = endpoint;
  const issues = Object.entries(sections)
    .filter(
      ([name, value]) =>
        value !== undefined && (!sectionNames.includes(name) || declared[name as SectionName] === undefined),
    )
    .map(([name]) => `${name}: the endpoint takes none`);
  if (issues.length > 0) throw new ContractError("request", endpoint.id, issues);
}

async function encodeFields(
  endpoint: EndpointDefinition,
  name: "params" | "query" | "headers",
  value: unknown,
): Promise<Record<string, string>> {
  const schema = endpoint[name];
  if (schema === undefined) return {};
  const encoded = await encode(endpoint, name, schema, withoutUndefined(value ?? {}));
  const fields: Record<string, string> = {};
  for (const [key, field] of Object.entries(encoded)) {
    // Params, queries and headers are text once encoded; anything else is a mistake of the contract.
    if (typeof field === "string") fields[key] = field;
    else if (field !== undefined) throw new TypeError(`${endpoint.id}: ${name}.${key} is not encoded as text`);
  }
  return fields;
}

async function encodeBody(endpoint: EndpointDefinition, value: unknown): Promise<EncodedRequest["body"]> {
  const { body } = endpoint;
  if (body === undefined || (value === undefined && endpoint.bodyOptional === true)) return null;
  if (!isBytes(body)) return JSON.stringify(await encode(endpoint, "body", body, withoutUndefined(value)));
  const bytes = acceptBytes(value);
  if (bytes === null) throw new ContractError("request", endpoint.id, [`body: expected ${ACCEPTED_BYTES}`]);
  return bytes;
}

async function encode<Schema extends z.core.$ZodType>(
  endpoint: EndpointDefinition,
  section: SectionName,
  schema: Schema,
  value: unknown,
): Promise<z.core.input<Schema>> {
  // The one place where a value enters its schema: a value that does not fit is an issue of the result, never a wrong
  // type.
  const result = z.safeEncode(schema, value as z.core.output<Schema>);
  if (result.success) return result.data;
  throw new ContractError("request", endpoint.id, await wordsOf(result.error.issues, section));
}

/** The words for an issue. If they cannot be loaded (a page whose files were replaced), the section alone. */
export async function wordsOf(issues: readonly z.core.$ZodIssue[], section: string): Promise<string[]> {
  const words = await loadErrorSentences();
  return words?.describeIssues(issues, section) ?? [section];
}

/** Optional fields passed as `undefined` count as absent. */
function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}

function renderTarget(
  path: string,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  return search === "" ? filled : `${filled}?${search}`;
}
