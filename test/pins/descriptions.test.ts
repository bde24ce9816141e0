// Every field that the interface has is described once, and no description is left over.
import { api, endpointsOf, errorsOf } from "@coffer/contract";
import { describingKey, FIELD_TEXTS, INPUT_TEXTS } from "@coffer/contract/describe";
import { renderOpenApi } from "@coffer/contract/openapi";
import { expect, it } from "vitest";
import { clientMethods, endpointOf } from "../../scripts/api-page.ts";
import { ownCodes } from "../../scripts/error-page.ts";
import { codesOf, factsOf, METHOD_FACTS, OWN_CODES } from "../../scripts/method-facts.ts";
import { METHODS } from "../any-answer/methods.ts";

type Json = Record<string, unknown>;
interface Field {
  readonly where: string;
  readonly description: unknown;
}
interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
}
interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: unknown;
  readonly responses: unknown;
}

const document = renderOpenApi(api) as { paths: Record<string, Record<string, Operation>>; components: unknown };
const operations = Object.values(document.paths)
  .flatMap((path) => Object.values(path))
  .filter((operation) => operation.operationId !== undefined);
const used = new Set<string>();

/** Every property below a schema, by its path. */
function fieldsOf(schema: unknown, path: readonly string[], see: (path: readonly string[]) => void): Field[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword !== "properties") return fieldsOf(value, path, see);
    return Object.entries(value as Record<string, Json>).flatMap(([name, property]) => {
      const at = [...path, name];
      see(at);
      return [{ where: at.join("."), description: property["description"] }, ...fieldsOf(property, at, see)];
    });
  });
}

function fieldsOfOperation({ operationId = "", parameters, requestBody, responses }: Operation): Field[] {
  const seen = (io: "input" | "output") => (path: readonly string[]) => {
    used.add(`${io} ${String(describingKey(io, operationId, path))}`);
  };
  for (const { name } of parameters) seen("input")([name]);
  return [
    ...parameters.map(({ name, description }) => ({ where: name, description })),
    ...fieldsOf(requestBody, [], seen("input")),
    ...fieldsOf(responses, [], seen("output")),
  ].map(({ where, description }) => ({ where: `${operationId}: ${where}`, description }));
}

const fields = [...operations.flatMap(fieldsOfOperation), ...fieldsOf(document.components, [], () => undefined)];

it("describes every field and every parameter of the interface in sentences", () => {
  expect(fields.length).toBeGreaterThan(900);
  const bare = fields.filter(({ description }) => typeof description !== "string" || !/^.{9,}[.…]$/.test(description));
  expect(bare.map(({ where }) => where)).toEqual([]);
});

it("names the default of everything that may be left out", () => {
  const silent = operations.flatMap(({ operationId = "", parameters, requestBody }) =>
    [...parameters.filter(({ required }) => !required), ...optionalFields(requestBody)]
      .filter(({ description = "" }) => !/\bdefault\b/i.test(description))
      .map(({ name }) => `${operationId}: ${name}`),
  );
  expect(silent).toEqual([]);
});

/** Properties below a schema that are not required. */
function optionalFields(schema: unknown): { readonly name: string; readonly description?: string }[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Json>; required?: string[] };
  const own = Object.entries(properties).filter(([name]) => !required.includes(name));
  return [...own.map(([name, field]) => ({ ...field, name })), ...Object.values(schema).flatMap(optionalFields)];
}

it("describes every operation", () => {
  expect(operations.filter(({ summary = "" }) => summary.length < 8).map(({ operationId }) => operationId)).toEqual([]);
});

it("has no description that describes nothing", () => {
  const idle = [
    ...Object.keys(INPUT_TEXTS).map((key) => `input ${key}`),
    ...Object.keys(FIELD_TEXTS).map((key) => `output ${key}`),
  ].filter((key) => !used.has(key) && key !== "output error"); // of every failure, outside the operations
  expect(idle).toEqual([]);
});

it("describes every method of the SDK's client, with input types that have names", () => {
  const methods = clientMethods();
  const all = Object.keys(METHODS).filter((name) => name.includes("."));
  expect(methods.map(({ name }) => name).sort()).toEqual(expect.arrayContaining(all.sort()));
  expect(methods.filter(({ text }) => text.length < 8).map(({ name }) => name)).toEqual([]);
  const nameless = methods.filter(({ signature }) => /\b(Body|Query|Output|CallInput)<|typeof/.test(signature));
  expect(nameless.map(({ signature }) => signature)).toEqual([]);
});

it("names the endpoints and the errors of every method of the SDK's client", () => {
  const methods = clientMethods();
  const names = new Set(methods.map(({ name }) => name));
  expect(Object.keys(METHOD_FACTS).filter((name) => !names.has(name))).toEqual([]);
  // What a comment promises to throw is in the page.
  const unlisted = methods.flatMap(({ name, thrown }) => {
    const facts = factsOf(name);
    const listed = new Set([...codesOf(facts), ...facts.endpoints.map(endpointOf).flatMap(errorsOf)]);
    return thrown.filter((code) => !listed.has(code)).map((code) => `${name}: ${code}`);
  });
  expect(unlisted).toEqual([]);
  const own = ownCodes().flatMap(([, codes]) => codes);
  expect(own.filter((code) => !OWN_CODES.has(code) && code !== "session_ended")).toEqual([]);
  const used = new Set(methods.flatMap(({ name }) => [...factsOf(name).endpoints, ...factsOf(name).inShared]));
  const idle = endpointsOf(api).filter(({ id }) => !used.has(id));
  expect(idle.map(({ id }) => id).sort()).toEqual(IDLE);
});

/** Endpoints that no method of a client needs: operators, payment providers and other clients use them. */
const IDLE = [
  ...["billing.events", "files.contentHead", "system.health", "system.metrics", "system.openapi"],
  ...["system.ready", "uploads.options"],
];
