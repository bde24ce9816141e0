/** From an endpoint and its input to one HTTP request, over any transport that is shaped like fetch. */
import { isBytes, type CallInput, type EndpointDefinition } from "@coffer/contract";
import * as z from "zod/mini";

/** Sends one request. The built-in fetch is one; a proxy that tampers with answers is another. */
export type Transport = (request: Request) => Promise<Response>;

export interface Extras {
  /** The bearer credential; null sends no Authorization header. */
  readonly key?: string | null;
  /** Sent as they are, after the declared ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Builds the request for schema-valid input, encoded by the endpoint's own schemas. */
export function renderRequest<E extends EndpointDefinition>(
  baseUrl: string,
  e: E,
  input: CallInput<E, Uint8Array>,
  extras: Extras,
): Request {
  const sections = input as Sections;
  const url = new URL(renderPath(e, sections.params ?? {}), baseUrl);
  for (const [name, value] of Object.entries(encodeSection(e.query, sections.query))) url.searchParams.set(name, value);
  const headers = new Headers(encodeSection(e.headers, sections.headers));
  if (extras.key !== undefined && extras.key !== null) headers.set("authorization", `Bearer ${extras.key}`);
  const body = renderBody(e, sections.body, headers);
  for (const [name, value] of Object.entries(extras.headers ?? {})) headers.set(name, value);
  return new Request(url, { method: e.method, headers, ...(body === undefined ? {} : { body }) });
}

/** `/api/files/{fileId}` with its parameters filled in. */
export function renderPath(e: EndpointDefinition, params: Readonly<Record<string, unknown>>): string {
  return e.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

interface Sections {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

function encodeSection(schema: z.core.$ZodObject | undefined, value: unknown): Record<string, string> {
  if (schema === undefined || value === undefined) return {};
  const encoded = z.encode(schema, value as z.core.output<typeof schema>) as Record<string, unknown>;
  const present = Object.entries(encoded).filter(([, field]) => field !== undefined);
  return Object.fromEntries(present.map(([name, field]) => [name, String(field)]));
}

function renderBody(e: EndpointDefinition, body: unknown, headers: Headers): BodyInit | undefined {
  if (e.body === undefined || body === undefined) return undefined;
  if (isBytes(e.body)) {
    if (!headers.has("content-type")) headers.set("content-type", e.body.mediaType ?? "application/octet-stream");
    return body as Uint8Array<ArrayBuffer>;
  }
  headers.set("content-type", "application/json");
  return JSON.stringify(body);
}
