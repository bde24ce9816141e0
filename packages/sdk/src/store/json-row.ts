/** Rows of a profile store that are JSON. */
import * as z from "zod/mini";
import { configurationError } from "../http/errors.ts";

export function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/**
 * The value of a row. `what`: the table's content, for the error.
 * @throws SdkError `configuration` for another form: such a row is not taken for none.
 */
export function decodeJson<Schema extends z.core.$ZodType>(
  schema: Schema,
  value: Uint8Array,
  what: string,
): z.output<Schema> {
  const result = z.safeParse(schema, parse(value));
  if (result.success) return result.data;
  throw configurationError(
    `The profile store does not hold ${what} in a form that this client knows: update the client, or put a copy of the store back`,
  );
}

function parse(value: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(value));
  } catch {
    return undefined;
  }
}
