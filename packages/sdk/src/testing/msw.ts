/**
 * `@coffer/sdk/testing/msw`: handlers for MSW 3, typed by the contract. `mock` answers one endpoint as a test says, `handlers` puts a whole
 * fake behind an origin. Install `msw` to use it; `@coffer/sdk/testing` works without.
 * @packageDocumentation
 */
import type { EndpointDefinition } from "@coffer/contract";
import { http, type HttpHandler } from "msw/http";
import type { Fake } from "./fake/service.ts";
import { Failure, type Resolver } from "./handlers.ts";
import { parseInput, renderFailure, renderOutcome } from "./respond.ts";

export type { Resolver } from "./handlers.ts";

/** `*`: whatever the origin. */
const ANY_ORIGIN = "*";

/**
 * An MSW 3 handler for one endpoint, typed by the contract. It parses the request as the server would (400 otherwise).
 * An answer outside the contract is an error of the test. It ignores credentials.
 *
 * With MSW 3 pass `onUnhandledFrame: "error"` to `listen`: MSW ignores the former `onUnhandledRequest`, and calls
 * would go to the network.
 *
 * @example
 * ```ts
 * const server = setupServer(mock(api.files.get, () => { throw new Failure("not_found"); }));
 * server.listen({ onUnhandledFrame: "error" });
 * ```
 */
export function mock<E extends EndpointDefinition>(
  endpoint: E,
  resolver: Resolver<E>,
  { baseUrl = ANY_ORIGIN }: { readonly baseUrl?: string } = {},
): HttpHandler {
  const path = `${baseUrl}${endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1")}`;
  return http.all(path, async ({ request, params }) => {
    if (request.method !== endpoint.method) return undefined;
    try {
      return renderOutcome(
        endpoint,
        request,
        await resolver(await parseInput(endpoint, request, textOf(params)), request),
      );
    } catch (error) {
      if (error instanceof Failure) return renderFailure(request, error);
      throw error;
    }
  });
}

/**
 * MSW 3 handlers that put a fake behind every path of an origin. A {@link mock} before them answers in its place, also
 * what the fake does not cover.
 *
 * @example
 * ```ts
 * const noInvites = mock(api.invites.list, () => ({ invites: [], nextCursor: null }));
 * const server = setupServer(noInvites, ...handlers(createFake()));
 * ```
 */
export function handlers(fake: Fake, { baseUrl = ANY_ORIGIN }: { readonly baseUrl?: string } = {}): HttpHandler[] {
  return [http.all(`${baseUrl}/*`, ({ request }) => fake.fetch(request))];
}

function textOf(params: Readonly<Record<string, string | readonly string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}
