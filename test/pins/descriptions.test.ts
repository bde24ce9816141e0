// Every field that the interface has is described once, and no description is left over.
import { api } from "@coffer/contract";
import { describingKey, FIELD_TEXTS, INPUT_TEXTS } from "@coffer/contract/describe";
import { renderOpenApi } from "@coffer/contract/openapi";
import { expect, it } from "vitest";
import { clientMethods } from "../../scripts/api-page.ts";
import { METHODS } from "../any-answer/methods.ts";

type Json = Record<string, unknown>;
interface Field {
  readonly where: string;
  readonly description: unknown;
}
interface Parameter {
  readonly name: string;
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
