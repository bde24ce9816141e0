// Every operation and every field of the interface has a comment in the contract.
import { api } from "@coffer/contract";
import { renderOpenApi } from "@coffer/contract/openapi";
import { expect, it } from "vitest";
import { readContractTexts } from "../../dev/scripts/contract-texts.ts";

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

const document = renderOpenApi(api, readContractTexts()) as {
  paths: Record<string, Record<string, Operation>>;
  components: unknown;
};
const operations = Object.values(document.paths)
  .flatMap((path) => Object.values(path))
  .filter((operation) => operation.operationId !== undefined);

/** Every property below a schema, by its path. */
function fieldsOf(schema: unknown, path: readonly string[] = []): Field[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword !== "properties") return fieldsOf(value, path);
    return Object.entries(value as Record<string, Json>).flatMap(([name, property]) => {
      const at = [...path, name];
      return [{ where: at.join("."), description: property["description"] }, ...fieldsOf(property, at)];
    });
  });
}

function fieldsOfOperation({ operationId = "", parameters, requestBody, responses }: Operation): Field[] {
  return [
    ...parameters.map(({ name, description }) => ({ where: name, description })),
    ...fieldsOf(requestBody),
    ...fieldsOf(responses),
  ].map(({ where, description }) => ({ where: `${operationId}: ${where}`, description }));
}

const fields = [...operations.flatMap(fieldsOfOperation), ...fieldsOf(document.components)];

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
