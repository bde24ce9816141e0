/**
 * The contract machinery: an endpoint is a plain value, and everything else (routes, SDK methods, mocks, OpenAPI,
 * permission matrix, conformance) is derived from it. No I/O and no framework here.
 */
import type * as z from "zod/mini";
import type { ErrorCode } from "./error-codes.ts";
import type { Scope } from "./scopes.ts";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/**
 * What a call does, which decides retries and tool annotations.
 * - `read`: safe, may be repeated at will (RFC 9110 §9.2.1)
 * - `create`: makes something new; repeated only with an Idempotency-Key
 * - `update`, `delete`: idempotent by their meaning (RFC 9110 §9.2.2)
 * - `append`: depends on an offset that the caller must read again before a repeat
 */
export type Effect = "read" | "create" | "update" | "delete" | "append";

/**
 * How an endpoint treats an API key that is limited to vaults.
 * - `none`: vaults do not matter
 * - `object`: the object's vault must be in the list, else 404 (no disclosure)
 * - `filter`: lists only items of the listed vaults
 * - `refuse`: 403 for every key that is limited to vaults
 */
export type VaultLimit = "none" | "object" | "filter" | "refuse";

/** Marks a body of raw bytes (a stream on both sides, never base64 in JSON). */
export interface BytesMarker {
  readonly kind: "bytes";
  /** The media type that the endpoint requires; absent: any. */
  readonly mediaType?: string;
}

/** Days as `2026-11-26`, in UTC. */
export interface Deprecation {
  readonly since: string;
  /** From this day on it may be gone. */
  readonly sunset: string;
  /** The operation that takes its place. */
  readonly instead: string;
  /** A page that says how to move. */
  readonly page?: string;
}

type AnySchema = z.core.$ZodType;
type ObjectSchema = z.core.$ZodObject;

export interface EndpointDefinition {
  /** `group.name`, the name of the endpoint everywhere. */
  readonly id: `${string}.${string}`;
  readonly method: Method;
  /** Path template, parameters in braces: `/api/files/{fileId}`. */
  readonly path: `/${string}`;
  /** Other paths with the same answers; clients use {@link path}. */
  readonly aliases?: readonly `/${string}`[];
  /** `none`: the endpoint ignores credentials. `credential`: specification section 5.2 or 5.6. */
  readonly auth: "none" | "credential";
  /** The lowest access level that may call (specification section 5.9): `owner` only, or `agent` and above. */
  readonly access: "owner" | "agent" | "anyone";
  readonly scope: Scope | null;
  /** What callers below the owner's level need in the place of {@link scope}. */
  readonly agentScope?: Scope;
  readonly vaultLimit: VaultLimit;
  readonly effect: Effect;
  readonly params?: ObjectSchema;
  readonly query?: ObjectSchema;
  /** Request headers the endpoint reads, lower case. Others are ignored. */
  readonly headers?: ObjectSchema;
  readonly body?: AnySchema | BytesMarker;
  /** The body may be left out. */
  readonly bodyOptional?: boolean;
  /** The success status, and other statuses that mean no error (206, 304 …). */
  readonly status: number;
  readonly otherStatuses?: readonly number[];
  /** Absent: the response has no body. */
  readonly output?: AnySchema | BytesMarker;
  /** Error codes beyond those every endpoint of its kind can return (see {@link errorsOf}). */
  readonly errors: readonly ErrorCode[];
  /** It will go: the server says so with every answer, OpenAPI marks it, and clients warn. */
  readonly deprecated?: Deprecation;
  /** The answer carries a raw key or secret: the service never stores it for an idempotent repeat (decisions §1). */
  readonly secretResponse?: boolean;
  /** It takes an Idempotency-Key although it creates nothing. The service answers a repeat, and does nothing again. */
  readonly keyed?: true;
}

/** Declares an endpoint. The value keeps its literal types. */
export function endpoint<const Definition extends EndpointDefinition>(definition: Definition): Definition {
  return definition;
}

export function bytes(mediaType?: string): BytesMarker {
  return mediaType === undefined ? { kind: "bytes" } : { kind: "bytes", mediaType };
}

export function isBytes(body: AnySchema | BytesMarker | undefined): body is BytesMarker {
  return body !== undefined && "kind" in body && body.kind === "bytes";
}

export type Group = Readonly<Record<string, EndpointDefinition>>;
export type Api = Readonly<Record<string, Group>>;

type Nothing = Record<never, never>;
type SectionName = "params" | "query" | "headers";

/** A section that the endpoint declares; optional when all its fields are. */
type Section<E, Name extends SectionName> = E extends { readonly [K in Name]: infer Schema extends AnySchema }
  ? Nothing extends z.core.output<Schema>
    ? { readonly [K in Name]?: z.core.output<Schema> }
    : { readonly [K in Name]: z.core.output<Schema> }
  : Nothing;
type BodySection<E, Bytes> = E extends { body: infer Body }
  ? E extends { bodyOptional: true }
    ? { readonly body?: Body extends AnySchema ? z.core.output<Body> : Bytes }
    : { readonly body: Body extends AnySchema ? z.core.output<Body> : Bytes }
  : Nothing;

/** What a caller passes: sections, decoded. `Bytes` is the caller's type of a byte body. */
export type CallInput<E extends EndpointDefinition, Bytes> = Section<E, "params"> &
  Section<E, "query"> &
  Section<E, "headers"> &
  BodySection<E, Bytes>;

type Parsed<E, Name extends SectionName> = E extends { readonly [K in Name]: infer Schema extends AnySchema }
  ? { readonly [K in Name]: z.core.output<Schema> }
  : Nothing;

/** What a handler receives: every declared section, parsed. */
export type HandlerInput<E extends EndpointDefinition, Bytes> = Parsed<E, "params"> &
  Parsed<E, "query"> &
  Parsed<E, "headers"> &
  (E extends { body: infer Body }
    ? Body extends AnySchema
      ? E extends { bodyOptional: true }
        ? { readonly body: z.core.output<Body> | undefined }
        : { readonly body: z.core.output<Body> }
      : { readonly body: Bytes }
    : Nothing);

/** What the endpoint returns on success: a JSON value, bytes, or nothing. */
export type Output<E extends EndpointDefinition, Bytes> = E extends { output: infer Out }
  ? Out extends AnySchema
    ? z.core.output<Out>
    : Bytes
  : void;

/** The scope that a caller of that level needs; null: none. */
export function scopeOf({ scope, agentScope }: EndpointDefinition, level: string): Scope | null {
  return level === "owner" ? scope : (agentScope ?? scope);
}

/** All endpoints of an api, flat, in declaration order. */
export function endpointsOf(api: Api): EndpointDefinition[] {
  return Object.values(api).flatMap((group) => Object.values(group));
}

/**
 * Whether the endpoint takes an Idempotency-Key. Every POST that creates for an account does (decisions §1). So does
 * every change of a file or folder (encryption design §9.3).
 */
export function takesIdempotencyKey({ method, effect, auth, keyed }: EndpointDefinition): boolean {
  return keyed === true || (method === "POST" && effect === "create" && auth === "credential");
}

const EVERY_ENDPOINT: readonly ErrorCode[] = ["internal", "unavailable", "rate_limited"];

/** Every error code the endpoint may return: its own and those that follow from its shape. */
export function errorsOf(e: EndpointDefinition): ErrorCode[] {
  const codes = new Set<ErrorCode>(e.errors);
  // A chain is read by a clock that agrees with its own.
  if (codes.has("chain_unavailable")) codes.add("clock_skew");
  if (e.params || e.query || e.headers || e.body) codes.add("validation_failed");
  if (e.auth === "credential") codes.add("invalid_credential").add("development_origin").add("budget_exceeded");
  if (e.access === "owner") codes.add("owner_only");
  if (e.scope !== null) codes.add("missing_scope");
  if (e.vaultLimit === "refuse") codes.add("vault_limited_key");
  if (e.body) codes.add("unsupported_media_type").add("body_truncated").add("request_timeout");
  if (e.body && !isBytes(e.body)) codes.add("malformed_json").add("body_too_large");
  // A large act on a folder locks it for other changes.
  if (e.effect !== "read" && (e.scope === "files:write" || e.scope === "folders:write")) codes.add("tree_busy");
  if (takesIdempotencyKey(e)) {
    codes.add("idempotency_in_progress").add("idempotency_mismatch");
    if (e.secretResponse) codes.add("already_created");
  }
  for (const code of EVERY_ENDPOINT) codes.add(code);
  return [...codes];
}
