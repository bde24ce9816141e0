/**
 * Endpoints that know nothing of a vault: their methods pass on what they are given. Each is called with what its schemas accept, and an answer
 * must have the id that was asked for.
 */
import { api, type EndpointDefinition, endpointsOf, isBytes } from "@coffer/contract";
import { SdkError } from "@coffer/sdk";
import * as fc from "fast-check";
import * as z from "zod/mini";
import { arbitraryOf } from "../fuzz/arbitrary.ts";
import type { Draw } from "./draw.ts";
import type { Method, Run } from "./method.ts";

/** Of the contract, and of a client. */
const RESOURCES: ReadonlySet<string> = new Set([
  "account",
  "apiKeys",
  "audit",
  "auth",
  "billing",
  "development",
  "identityProvider",
  "sessions",
  "webhookEvents",
  "webhooks",
]);

export const isOfEndpoints = (name: string): boolean => RESOURCES.has(name.split(".")[0] ?? "");

export const ENDPOINTS: Readonly<Record<string, Method>> = Object.fromEntries(
  endpointsOf(api)
    .filter((endpoint) => isOfEndpoints(endpoint.id) && !isBytes(endpoint.body))
    .map((endpoint) => [`call ${endpoint.id}`, (run: Run) => call(endpoint, run)]),
);

async function call(endpoint: EndpointDefinition, { client, world, draw, blame }: Run): Promise<undefined> {
  const { keyIds, webhookIds } = world;
  const ids: Readonly<Record<string, readonly string[]>> = { keyId: keyIds, webhookId: webhookIds };
  const drawn = drawFrom(endpoint.params, draw);
  // What ends a key or a webhook ends one that is not there.
  const named = Object.keys(drawn).filter((name) => ids[name] !== undefined && endpoint.method !== "DELETE");
  const params = { ...drawn, ...Object.fromEntries(named.map((name) => [name, draw.pick(ids[name] ?? [])])) };
  const sections = { params, query: drawFrom(endpoint.query, draw), body: drawFrom(endpoint.body, draw) };
  // A section that the endpoint does not have is refused before anything is sent.
  const input = Object.fromEntries(
    Object.entries(sections).filter(([name]) => endpoint[name as keyof typeof sections] !== undefined),
  );
  const answer: unknown = await client.call(endpoint, input).catch((error: unknown) => {
    if (error instanceof SdkError && error.code === "invalid_request")
      throw new TypeError("the drawn input was not sent", { cause: error });
    throw error;
  });
  const [id] = Object.values(params);
  for (const answered of Object.values(answer ?? {}))
    if (hasId(answered) && endpoint.path.endsWith("Id}") && answered.id !== id)
      blame(`${answered.id} was answered for ${String(id)}`);
  return undefined;
}

function drawFrom(schema: EndpointDefinition["body"] | EndpointDefinition["query"], draw: Draw): object {
  if (schema === undefined || isBytes(schema)) return {};
  const [value] = fc.sample(arbitraryOf(schema), { numRuns: 1, seed: draw.below(2 ** 31) });
  return z.decode(schema, value) as object;
}

function hasId(value: unknown): value is { readonly id: string } {
  return typeof value === "object" && value !== null && "id" in value && typeof value.id === "string";
}
