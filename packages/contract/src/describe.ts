/**
 * `@coffer/contract/describe`: what every field of the interface is, with its unit, form and default. Nothing that a browser loads
 * imports it.
 * @packageDocumentation
 */
import { FIELD_TEXTS } from "./field-texts.ts";
import { INPUT_TEXTS } from "./input-texts.ts";

export { FIELD_TEXTS, INPUT_TEXTS };

type Json = Record<string, unknown>;
type Io = "input" | "output";

const TEXTS = { input: INPUT_TEXTS, output: FIELD_TEXTS } as const;

/** The key whose text describes the field: the longest key that the path ends with. A list counts as one of its items. */
export function describingKey(io: Io, endpointId: string, path: readonly string[]): string | undefined {
  const last = path.length - 1;
  const words = path.map((word, index) => (index === last ? word : singular(word)));
  const all = [endpointId, io === "input" ? "in" : "out", ...words];
  for (let start = 0; start < all.length; start += 1) {
    const key = all.slice(start).join(".");
    if (Object.hasOwn(TEXTS[io], key)) return key;
  }
  return undefined;
}

/** The text of a field; undefined when it has none, which a test refuses. */
export function describeField(io: Io, endpointId: string, path: readonly string[]): string | undefined {
  const key = describingKey(io, endpointId, path);
  return key === undefined ? undefined : TEXTS[io][key];
}

/** A copy of a JSON Schema in which every property has its description. */
export function describeSchema(schema: unknown, io: Io, endpointId: string, path: readonly string[] = []): unknown {
  if (Array.isArray(schema)) return schema.map((part) => describeSchema(part, io, endpointId, path));
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === "properties") return [keyword, describeProperties(value as Json, io, endpointId, path)];
    return [keyword, describeSchema(value, io, endpointId, path)];
  });
  return Object.fromEntries(entries) as Json;
}

function describeProperties(properties: Json, io: Io, endpointId: string, path: readonly string[]): Json {
  const described = Object.entries(properties).map(([name, property]) => {
    const at = [...path, name];
    const description = describeField(io, endpointId, at);
    const rest = describeSchema(property, io, endpointId, at) as Json;
    return [name, description === undefined ? rest : { description, ...rest }];
  });
  return Object.fromEntries(described) as Json;
}

function singular(word: string): string {
  return word.replace(/ies$/, "y").replace(/s$/, "");
}
