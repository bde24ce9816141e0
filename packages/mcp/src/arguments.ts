/** Makes arguments out of what hosts and models send for them, before a tool parses them. */
import { stripMarks } from "./text-fence.ts";
import type { JsonObject } from "./schema.ts";

/**
 * Null, "" and an empty list of an optional argument count as absent. Numbers and booleans may be text, and one text may stand for
 * a list of one. Marks of this process's own fences are taken off. Unknown arguments stay, for the parser to name.
 */
export function prepareArguments(sent: unknown, schema: JsonObject): unknown {
  if (sent === undefined || sent === null) return {};
  if (typeof sent !== "object" || Array.isArray(sent)) return sent;
  const properties = objectOf(schema["properties"]);
  const required: unknown = schema["required"];
  const prepared = Object.entries(sent).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const property = Object.hasOwn(properties, name) ? objectOf(properties[name]) : null;
    if (property === null) return [[name, value]];
    const isOptional = !Array.isArray(required) || !required.includes(name);
    if (isOptional && (value === null || value === "" || isEmptyList(value))) return [];
    return [[name, readValue(value, property)]];
  });
  // A name like __proto__ must stay an argument that the parser refuses.
  return Object.fromEntries(prepared);
}

function readValue(value: unknown, property: JsonObject): unknown {
  if (property["type"] === "array") return listOf(value, objectOf(property["items"]));
  if (typeof value !== "string") return value;
  const text = stripMarks(value);
  if (property["type"] === "integer" || property["type"] === "number") return numberIn(text);
  if (property["type"] === "boolean") return { true: true, false: false }[text.trim().toLowerCase()] ?? text;
  return text;
}

function numberIn(text: string): unknown {
  return /^-?\d{1,15}(\.\d{1,9})?$/.test(text.trim()) ? Number(text) : text;
}

/** Some hosts send lists as JSON text. */
function listOf(value: unknown, items: JsonObject): unknown {
  const list = typeof value === "string" ? (jsonList(value) ?? [value]) : value;
  return Array.isArray(list) ? list.map((each: unknown) => readValue(each, items)) : list;
}

function jsonList(text: string): unknown[] | null {
  if (!text.trim().startsWith("[")) return null;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
