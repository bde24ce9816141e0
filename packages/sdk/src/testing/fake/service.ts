/** The fake service: files, folders, vaults and webhooks over memory, behind one fetch-like function. */
import { toRequest, type TransportRequest } from "../../http/transports.ts";
import {
  api,
  endpointsOf,
  HEADERS,
  MAX_IDEMPOTENCY_KEY,
  takesIdempotencyKey,
  type CofferApi,
  type EndpointDefinition,
} from "@coffer/contract";
import { digestOf, toHex } from "../../transfer/digest.ts";
import { Failure, type Handler, type Outcome, type Resolver } from "../handlers.ts";
import { parseInput, renderFailure, renderOutcome } from "../respond.ts";
import { accountHandlers, developmentHandlers, makeAccount } from "./accounts.ts";
import { deliverDue } from "./deliveries.ts";
import { fileHandlers, trashHandlers } from "./files.ts";
import { folderHandlers } from "./folders.ts";
import { authenticate, createState, type Caller, type Receive, type State } from "./state.ts";
import { uploadHandlers } from "./uploads.ts";
import { vaultHandlers } from "./vaults.ts";
import { webhookHandlers } from "./webhooks.ts";

/** For a fake service. */
export interface FakeOptions {
  /** The fake's clock, in milliseconds since 1970. Default: the system's. */
  readonly now?: () => number;
  /** Answers instead of the receivers of webhooks. Default: every delivery fails with `connection refused`. */
  readonly receive?: Receive;
}

/** A fake service. */
export interface Fake {
  /** Answers any request to the service, whatever its origin. Rejects only where a resolver of {@link Fake.mock} throws. */
  readonly fetch: (request: TransportRequest) => Promise<Response>;
  /** A key that may do everything in the account `owner@fake.test`, which is made when this is first read. */
  readonly apiKey: string;
  /** The ids of the endpoints that it answers by itself, such as `files.upload`. All others answer `not_configured` until they are mocked. */
  readonly endpoints: readonly string[];
  /** The service's tables; a test may look at them. */
  readonly state: State;
  /**
   * Answers an endpoint as the test says: one that the fake does not cover, or one that shall fail. It ignores
   * credentials. A {@link Failure} is an error of the catalogue; any other error fails the request as a broken
   * connection does. The latest mock of an endpoint counts.
   *
   * @returns What ends it.
   * @example
   * ```ts
   * const end = fake.mock(api.files.upload, () => {
   *   end(); // the repeat succeeds
   *   throw new Failure("rate_limited");
   * });
   * ```
   */
  mock<E extends EndpointDefinition>(endpoint: E, resolver: Resolver<E>): () => void;
  /** Makes the webhook attempts that are due by the fake's clock; nothing else does. Resolves with how many there were. */
  deliverWebhooks(): Promise<number>;
}

/** Handlers of the endpoints that the fake covers. Those of closed endpoints learn who calls. */
type Covered = {
  readonly [Group in keyof CofferApi]?: {
    readonly [Name in keyof CofferApi[Group]]?: CofferApi[Group][Name] extends infer E extends EndpointDefinition
      ? Handler<E, E["auth"] extends "none" ? null : Caller>
      : never;
  };
};

function createHandlers(state: State): Covered {
  return {
    development: developmentHandlers(state),
    account: accountHandlers(state),
    vaults: vaultHandlers(state),
    folders: folderHandlers(state),
    files: fileHandlers(state),
    uploads: uploadHandlers(state),
    trash: trashHandlers(state),
    webhooks: webhookHandlers(state),
  };
}

/**
 * Opens a service in memory, for tests of code that uses the SDK: the account of `apiKey`, and more by `development.signup`,
 * each with one key that may do everything; public vaults, folders and files, also in parts and many at once; the trash; and
 * webhooks with signed deliveries. It calls nobody.
 *
 * @example
 * ```ts
 * const fake = createFake();
 * const { apiKey } = fake;
 * const client = createClient({ baseUrl: "http://fake.test", transport: fake.fetch, credentials: { apiKey } });
 * ```
 */
export function createFake({ now = Date.now, receive }: FakeOptions = {}): Fake {
  const state = createState(now, receive ?? null);
  const handlers = handlersById(createHandlers(state));
  const routes = compileRoutes();
  const mocks = new Map<string, AnyHandler>();
  const replays = new Map<string, Replay>();
  let owner: { readonly apiKey: string } | null = null;
  return {
    get apiKey() {
      return (owner ??= makeAccount(state, "owner@fake.test")).apiKey;
    },
    endpoints: [...handlers.keys()],
    state,
    mock: (endpoint, resolver) => {
      const mocked = resolver as AnyHandler;
      mocks.set(endpoint.id, mocked);
      return () => {
        if (mocks.get(endpoint.id) === mocked) mocks.delete(endpoint.id);
      };
    },
    deliverWebhooks: () => deliverDue(state),
    fetch: async (sent) => {
      const request = toRequest(sent);
      try {
        const { endpoint, params } = findEndpoint(routes, request);
        const mocked = mocks.get(endpoint.id);
        if (mocked !== undefined) return await answer(endpoint, params, request, mocked, request);
        const handler = handlers.get(endpoint.id);
        if (handler === undefined) throw uncovered(endpoint);
        const caller = endpoint.auth === "none" ? null : authenticate(state, request);
        return await once(replays, endpoint, caller, request, () => answer(endpoint, params, request, handler, caller));
      } catch (error) {
        if (error instanceof Failure) return renderFailure(request, error);
        throw error;
      }
    },
  };
}

type AnyHandler = (input: never, context: never) => unknown;

function handlersById(covered: Covered): Map<string, AnyHandler> {
  const groups = Object.entries<Readonly<Record<string, AnyHandler>>>(covered);
  return new Map(
    groups.flatMap(([group, members]) =>
      Object.entries(members).map(([name, handler]) => [`${group}.${name}`, handler] as const),
    ),
  );
}

function uncovered({ id, method, path }: EndpointDefinition): Failure {
  const how = `fake.mock(api.${id}, resolver), or mock(api.${id}, resolver) of @coffer/sdk/testing/msw`;
  return new Failure("not_configured", `The fake does not cover ${id} (${method} ${path}): mock it with ${how}`);
}

interface Route {
  readonly endpoint: EndpointDefinition;
  readonly pattern: RegExp;
}

function compileRoutes(): Route[] {
  const routes = endpointsOf(api).flatMap((endpoint) =>
    [endpoint.path, ...(endpoint.aliases ?? [])].map((path) => ({
      endpoint,
      pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}/?$`),
    })),
  );
  // A path without parameters comes before one that would take its last word for an id.
  const isFixed = ({ pattern }: Route) => !pattern.source.includes("(?<");
  return [...routes.filter(isFixed), ...routes.filter((route) => !isFixed(route))];
}

function findEndpoint(
  routes: readonly Route[],
  request: Request,
): { readonly endpoint: EndpointDefinition; readonly params: Readonly<Record<string, string>> } {
  const { pathname } = new URL(request.url);
  const here = routes.filter((route) => route.pattern.test(pathname));
  const route = here.find(({ endpoint }) => endpoint.method === request.method);
  if (route !== undefined) return { endpoint: route.endpoint, params: { ...route.pattern.exec(pathname)?.groups } };
  if (here.length === 0) throw new Failure("not_found");
  throw new Failure("method_not_allowed", undefined, { allow: here.map(({ endpoint }) => endpoint.method).join(", ") });
}

async function answer(
  endpoint: EndpointDefinition,
  params: Readonly<Record<string, string>>,
  request: Request,
  handler: AnyHandler,
  context: Caller | Request | null,
): Promise<Response> {
  const input = await parseInput(endpoint, request, params);
  // Handlers were typed by their endpoints; the types cannot follow through the tables of routes and mocks.
  const outcome = (await handler(input as never, context as never)) as Outcome<EndpointDefinition>;
  return renderOutcome(endpoint, request, outcome);
}

/** A first answer, kept for repeats. */
interface Replay {
  readonly fingerprint: string;
  readonly status: number;
  readonly headers: Headers;
  /** null: an answer without one. */
  readonly body: ArrayBuffer | null;
}

/** Decisions §1: the same key and request answer the first response again. */
async function once(
  replays: Map<string, Replay>,
  endpoint: EndpointDefinition,
  caller: Caller | null,
  request: Request,
  run: () => Promise<Response>,
): Promise<Response> {
  const key = request.headers.get(HEADERS.idempotencyKey);
  if (key === null || caller === null || !takesIdempotencyKey(endpoint)) return run();
  if (key.length > MAX_IDEMPOTENCY_KEY || key === "")
    throw new Failure("validation_failed", "headers.idempotency-key: 1 to 255 characters");
  const { pathname, search } = new URL(request.url);
  const body = toHex(await digestOf(new Uint8Array(await request.clone().arrayBuffer())));
  const fingerprint = [request.method, pathname, search, body].join(" ");
  const kept = replays.get(`${caller.accountId} ${key}`);
  if (kept === undefined) {
    const { status, headers, body: stream } = await run();
    const first = stream === null ? null : await new Response(stream).arrayBuffer();
    replays.set(`${caller.accountId} ${key}`, { fingerprint, status, headers, body: first });
    return new Response(first, { status, headers });
  }
  if (kept.fingerprint !== fingerprint) throw new Failure("idempotency_mismatch");
  const headers = new Headers(kept.headers);
  headers.set(HEADERS.idempotentReplay, "true");
  return new Response(kept.body, { status: kept.status, headers });
}
