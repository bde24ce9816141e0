/** JSON Schema for a model: composed from contract fragments, and as short as it can be without losing meaning. */
import * as z from "zod/mini";

export type JsonObject = { [name: string]: unknown };

/** The meaning of arguments that several tools take. */
export const SHARED_ARGUMENTS: Readonly<Record<string, string>> = {
  file: "id (8 digits do) or path",
  files: "ids (8 digits do) or paths",
  vaultId: "id or name; default: the only one",
  folder: "id or path like A/B; default: top",
  limit: "rows",
  cursor: "default: first page",
  path: "local file",
};

/** Schemas of facts in an answer. */
export const TEXT = { type: "string" } as const satisfies JsonObject;
export const COUNT = { type: "integer" } as const satisfies JsonObject;
export const FLAG = { type: "boolean" } as const satisfies JsonObject;
export const TEXTS = { type: "array", items: TEXT } as const satisfies JsonObject;
export const OBJECT = { type: "object" } as const satisfies JsonObject;

const ERROR = {
  type: "object",
  properties: { code: TEXT, message: TEXT, nextStep: TEXT, retryable: FLAG, detail: TEXT, requestId: TEXT },
} as const satisfies JsonObject;

/**
 * The output schema of a tool. Every member is optional: a failure has `error` alone, and clients check failures against
 * the schema too.
 */
export function outputOf(facts: Readonly<Record<string, JsonObject>>, table: string | null): JsonObject {
  const rows = table === null ? {} : { columns: TEXTS, [table]: { type: "array", items: { type: "array" } } };
  return { type: "object", properties: { ...facts, ...rows, fence: TEXT, error: ERROR } };
}

/**
 * Renders the input schema of a tool. Long patterns cost a model tokens and teach it nothing: identifiers say
 * `format: uuid`, other patterns are dropped. The parser still enforces the whole fragment.
 */
export function renderInputSchema(
  input: z.core.$ZodObject,
  describe: Readonly<Record<string, string | undefined>>,
  leaveOut: readonly string[],
): JsonObject {
  const rendered = z.toJSONSchema(input, {
    io: "input",
    override: ({ jsonSchema }) => {
      shorten(jsonSchema);
    },
  });
  const properties: JsonObject = {};
  for (const [name, property] of Object.entries(rendered.properties ?? {})) {
    if (leaveOut.includes(name) || typeof property !== "object") continue;
    const description = describe[name];
    properties[name] = description === undefined ? property : { ...property, description };
  }
  const required = (rendered.required ?? []).filter((name) => !leaveOut.includes(name));
  return {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function shorten(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.pattern?.startsWith("^[0-9a-f]{8}-") === true) schema.format = "uuid";
  delete schema.pattern;
  delete schema.minItems;
  delete schema.maxItems;
  if (schema.minimum !== undefined && schema.minimum <= 1) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.type === "string") {
    delete schema.minLength;
    delete schema.maxLength;
  }
}
