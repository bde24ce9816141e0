/**
 * `@coffer/contract/openapi`: the contract as OpenAPI 3.1, made from the endpoints and nothing else.
 * @packageDocumentation
 */
import * as z from "zod/mini";
import { type Api, type EndpointDefinition, endpointsOf, errorsOf, isBytes, takesIdempotencyKey } from "./endpoint.ts";
import { ERROR_FACTS, type ErrorCode } from "./error-codes.ts";
import { ERRORS } from "./errors.ts";
import { HEADERS, MAX_IDEMPOTENCY_KEY } from "./headers.ts";
import { KNOWN_VALUES } from "./values.ts";

type Json = Record<string, unknown>;

/** The version of the interface: additive changes only below `/api` (decisions §1). */
export const API_VERSION = "0.1.0";

/**
 * The texts of endpoints and fields by their {@link textKey}. They are the comments in the sources of the contract, so `npm run docs`
 * reads them there: at run time they are gone.
 */
export type Texts = Readonly<Record<string, string>>;

type Io = "input" | "output";

/** `files.list` for the endpoint, `files.list input limit` and `files.list output files.name` for its fields. Lists do not count. */
export function textKey(endpointId: string, io?: Io, path: readonly string[] = []): string {
  return io === undefined ? endpointId : `${endpointId} ${io} ${path.join(".")}`;
}

/** A complete OpenAPI 3.1 document. The same contract and texts always give the same document. */
export function renderOpenApi(api: Api, texts: Texts): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpointsOf(api)) {
    const operation = renderOperation(endpoint, texts);
    (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = operation;
    for (const alias of endpoint.aliases ?? []) {
      // An operationId is unique in the document (OpenAPI 3.1 §4.8.10), so the alias has none.
      const { operationId: _unique, ...same } = operation;
      (paths[alias] ??= {})[endpoint.method.toLowerCase()] = { ...same, "x-alias-of": endpoint.path };
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Coffer",
      version: API_VERSION,
      description:
        "Encrypted file storage that AI agents can use safely. Every failure is `{ error }` with its code in X-Error-Code.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths,
    components: {
      securitySchemes: {
        credential: {
          type: "http",
          scheme: "bearer",
          description: "An API key or the access token of a web session (specification 5.2)",
        },
      },
      schemas: { Error: ERROR_SCHEMA },
    },
  };
}

const ERROR_SCHEMA = {
  type: "object",
  properties: {
    error: {
      description: "What went wrong and what to do, in one sentence. The code is in the header X-Error-Code.",
      type: "string",
    },
  },
  required: ["error"],
  additionalProperties: false,
};

function renderOperation(endpoint: EndpointDefinition, texts: Texts): Json {
  const operation: Json = {
    operationId: endpoint.id,
    tags: [endpoint.id.split(".", 1)[0]],
    summary: texts[textKey(endpoint.id)]?.replace(/\.$/, ""),
    ...renderDeprecation(endpoint),
    security: endpoint.auth === "none" ? [] : [{ credential: [] }],
    parameters: renderParameters(endpoint, texts),
    responses: { ...renderSuccesses(endpoint, texts), ...renderFailures(endpoint) },
    "x-access": endpoint.access,
    "x-scope": endpoint.scope,
    ...(endpoint.agentScope === undefined ? {} : { "x-agent-scope": endpoint.agentScope }),
    "x-vault-limit": endpoint.vaultLimit,
    "x-effect": endpoint.effect,
  };
  if (endpoint.body !== undefined) {
    operation["requestBody"] = {
      required: endpoint.bodyOptional !== true,
      content: renderContent(endpoint.body, "input", endpoint.id, texts),
    };
  }
  return operation;
}

const renderDeprecation = ({ deprecated }: EndpointDefinition): Json =>
  deprecated === undefined
    ? {}
    : {
        deprecated: true,
        description: `Deprecated since ${deprecated.since}: use ${deprecated.instead}. It ends on ${deprecated.sunset}.`,
      };

const PLACES = { params: "path", query: "query", headers: "header" } as const;

function renderParameters(endpoint: EndpointDefinition, texts: Texts): Json[] {
  const declared = (["params", "query", "headers"] as const).flatMap((section) => {
    const schema = endpoint[section];
    if (schema === undefined) return [];
    const { properties = {}, required = [] } = renderSchema(schema, "input") as {
      properties?: Record<string, Json>;
      required?: string[];
    };
    return Object.entries(properties)
      .filter(([name]) => section !== "headers" || name !== "content-type") // OpenAPI 3.1 §4.8.12: the media type carries it
      .map(([name, property]) => ({
        name,
        in: PLACES[section],
        description: texts[textKey(endpoint.id, "input", [name])],
        required: section === "params" || required.includes(name),
        schema: property,
      }));
  });
  return takesIdempotencyKey(endpoint) ? [...declared, IDEMPOTENCY_KEY] : declared;
}

const IDEMPOTENCY_KEY = {
  name: HEADERS.idempotencyKey,
  in: "header",
  description:
    "1 to 255 visible characters. A repeat with the same key gets the first answer, and nothing is done again. Default: every request counts.",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY },
};

function renderSuccesses(endpoint: EndpointDefinition, texts: Texts): Json {
  const { output } = endpoint;
  const responses: Json = {
    [endpoint.status]:
      output === undefined
        ? { description: "Done" }
        : { description: "Done", content: renderContent(output, "output", endpoint.id, texts) },
  };
  for (const status of endpoint.otherStatuses ?? []) {
    // A part (206) is bytes like the whole; the others have no body.
    const content =
      status === 206 && output !== undefined ? { content: renderContent(output, "output", endpoint.id, texts) } : {};
    responses[status] = { description: "Done", ...content };
  }
  return responses;
}

/** One response per status: X-Error-Code holds one of the codes behind it. */
function renderFailures(endpoint: EndpointDefinition): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(endpoint))
    for (const status of statusesOf(endpoint, code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  const responses: Json = {};
  for (const [status, those] of [...byStatus].sort(([left], [right]) => left - right)) {
    responses[status] = {
      description: those.map((code) => ERRORS[code].message).join("; "),
      headers: { [HEADERS.errorCode]: { schema: { type: "string", enum: those } } },
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    };
  }
  return responses;
}

/** The second status of a code is that of a fault of the service: an endpoint that does not name the code has it alone. */
function statusesOf({ errors }: EndpointDefinition, code: ErrorCode): number[] {
  const [status, , ownFault = status] = ERROR_FACTS[code] as readonly [number, boolean, number?];
  const isNamed = errors.includes(code) || ownFault === status;
  const isOwn = ownFault !== status && errors.includes("chain_unavailable");
  return [...(isNamed ? [status] : []), ...(isOwn ? [ownFault] : [])];
}

function renderContent(body: NonNullable<EndpointDefinition["body"]>, io: Io, id: string, texts: Texts): Json {
  if (isBytes(body)) return { [body.mediaType ?? "*/*"]: {} };
  const describe = (path: readonly string[]) => texts[textKey(id, io, path)];
  return { "application/json": { schema: describeSchema(renderSchema(body, io), describe, []) } };
}

type Describe = (path: readonly string[]) => string | undefined;

/** A copy of a JSON Schema in which every property has its description. */
function describeSchema(schema: unknown, describe: Describe, path: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((part) => describeSchema(part, describe, path));
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([keyword, value]) => [
    keyword,
    keyword === "properties"
      ? describeProperties(value as Json, describe, path)
      : describeSchema(value, describe, path),
  ]);
  return Object.fromEntries(entries) as Json;
}

function describeProperties(properties: Json, describe: Describe, path: readonly string[]): Json {
  const described = Object.entries(properties).map(([name, property]) => {
    const at = [...path, name];
    const description = describe(at);
    const rest = describeSchema(property, describe, at) as Json;
    return [name, description === undefined ? rest : { description, ...rest }];
  });
  return Object.fromEntries(described) as Json;
}

/** A schema of the contract as JSON Schema. The words of a value that may get others are in `x-known-values`. */
function renderSchema(schema: z.core.$ZodType, io: Io): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const values = KNOWN_VALUES.get(zodSchema);
      if (values !== undefined) jsonSchema["x-known-values"] = values;
    },
    target: "draft-2020-12",
  });
  return rest;
}
