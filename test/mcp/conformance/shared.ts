/** What several fixtures are made of. */
import { createRequestStateCodec, fromJsonSchema, type CallToolResult } from "@modelcontextprotocol/server";

/** The state that clients carry between rounds: one key for all servers of this process, as the rounds need it. */
export const STATES = createRequestStateCodec<Record<string, unknown>>({
  key: crypto.getRandomValues(new Uint8Array(32)),
});

/** An object schema without arguments, or with texts that are required. */
export const texts = (...names: string[]) =>
  fromJsonSchema<Record<string, string>>({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
    required: names,
  });

export const say = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });
