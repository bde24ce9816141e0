/** One request as it goes out, before and after mutation. Unlike fetch's Request it can be wrong in many ways. */
import { endpointsOf, api, type EndpointDefinition } from "@coffer/contract";

export interface Message {
  readonly method: string;
  /** Path and query, already escaped. */
  readonly target: string;
  /** In order; names may repeat. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | null;
  /** Which endpoint the message set out to call. */
  readonly origin: EndpointDefinition;
  readonly mutations: readonly string[];
}

const ROUTES = endpointsOf(api).flatMap((e) =>
  [e.path, ...(e.aliases ?? [])].map((path) => ({
    e,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}/?$`),
  })),
);

const idsIn = (path: string): number => path.split("{").length;

/** The endpoint that a method and target reach, null for none. A HEAD without an endpoint of its own reaches GET's. */
export function endpointAt(method: string, target: string): EndpointDefinition | null {
  const path = target.split("?", 1)[0] ?? "";
  const here = ROUTES.filter(({ pattern }) => pattern.test(path)).map(({ e }) => e);
  // A literal path comes before one with an id in that place.
  const exact = here
    .filter((e) => e.method === method)
    .toSorted(({ path }, other) => idsIn(path) - idsIn(other.path))[0];
  return exact ?? (method === "HEAD" ? here.find((e) => e.method === "GET") : undefined) ?? null;
}

/** For a finding: enough to send it again by hand. */
export function describe(message: Message): string {
  const mutated = message.mutations.length === 0 ? "unmutated" : message.mutations.join(" + ");
  const headers = message.headers.filter(([name]) => name.toLowerCase() !== "authorization");
  const body = message.body === null ? "" : ` body ${JSON.stringify(message.body.subarray(0, 300).toString("latin1"))}`;
  return `${message.origin.id} (${mutated}): ${message.method} ${message.target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 600)}${body}`;
}
