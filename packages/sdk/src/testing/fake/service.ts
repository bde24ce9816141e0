/** The fake service: every endpoint of the contract over memory, behind one fetch-like function. */
import {
  api,
  endpointsOf,
  HEADERS,
  scopeOf,
  MAX_IDEMPOTENCY_KEY,
  takesIdempotencyKey,
  type CofferApi,
  type EndpointDefinition,
} from "@coffer/contract";
import { digestOf, toHex } from "../../digest.ts";
import { Failure, Reply, type Handler, type Outcome } from "../handlers.ts";
import { parseInput, renderFailure, renderOutcome } from "../respond.ts";
import { accountHandlers, developmentHandlers } from "./account.ts";
import { auditHandlers, contentBefore, recordContent } from "./audit.ts";
import { takeRequest } from "./budgets.ts";
import { authHandlers, sessionHandlers } from "./auth.ts";
import { billingHandlers, signPayment } from "./billing.ts";
import { changesHandlers } from "./changes.ts";
import { catalogueHandlers, eventHandlers } from "./events.ts";
import { fileHandlers, trashHandlers } from "./files.ts";
import { folderHandlers } from "./folders.ts";
import { identityProviderHandlers } from "./identity-provider.ts";
import { randomToken, type Mail, type ProviderUser } from "./identity-state.ts";
import { inviteHandlers } from "./invites.ts";
import { apiKeyHandlers } from "./keys.ts";
import { deliverDue } from "./sending.ts";
import {
  authenticate,
  createState,
  hasScope,
  readVaultOrTrashed,
  type Caller,
  type State,
  type Visitor,
  type VerifySignature,
} from "./state.ts";
import { announceTus, uploadHandlers } from "./uploads.ts";
import { vaultHandlers } from "./vaults.ts";
import type { Receive } from "./webhook-state.ts";
import { webhookHandlers } from "./webhooks.ts";

/** Handlers of the fake. All learn where the call came from; those of closed endpoints also learn who calls. */
export type FakeHandlers = {
  readonly [Group in keyof CofferApi]: {
    readonly [Name in keyof CofferApi[Group]]: CofferApi[Group][Name] extends infer E extends EndpointDefinition
      ? Handler<E, E["auth"] extends "none" ? Visitor : Caller>
      : never;
  };
};

/** For a fake service. */
export interface FakeOptions {
  /** The fake's clock, in milliseconds since 1970. Default: the system's. */
  readonly now?: () => number;
  /** Answers instead of the receivers of webhooks. Default: every delivery fails with `connection refused`. */
  readonly receive?: Receive;
  /** Checks signatures of wallets, multisigs, passkeys and zkLogin. Default: the fake answers those with `not_configured`. */
  readonly verifySignature?: VerifySignature;
}

/** A fake service. */
export interface Fake {
  /** Answers any request to the service, whatever its origin. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The service's state; a test may look at it. */
  readonly state: State;
  /** A new access code for sign-ups, as the operator would make it. */
  readonly addAccessCode: (uses?: number) => string;
  /** The mails that were sent, oldest first. */
  readonly mails: readonly Mail[];
  /** Signs a user in at the identity provider for a sign-in that was begun; the code goes to the callback. */
  readonly signInAtProvider: (signIn: { readonly state: string }, user: ProviderUser) => string;
  /** The `webhook-signature` of a payment event: of its id, its time in seconds since 1970, and its bytes. */
  readonly signPayment: (id: string, time: string, body: Uint8Array) => string;
  /** Makes the webhook attempts that are due by the fake's clock; nothing else does. Resolves with how many there were. */
  deliverWebhooks(): Promise<number>;
}

/** Opens an empty service in memory. It calls nobody. */
export function createFake({ now = Date.now, receive, verifySignature }: FakeOptions = {}): Fake {
  const state = createState(now, receive, verifySignature);
  const routes = compileRoutes(createHandlers(state));
  const replays = new Map<string, Replay>();
  return {
    state,
    mails: state.mails,
    signPayment,
    addAccessCode: (uses = 1) => {
      const code = randomToken();
      state.accessCodes.set(code, uses);
      return code;
    },
    signInAtProvider: (signIn, user) => {
      const code = randomToken();
      state.providerCodes.set(code, { state: signIn.state, user });
      return code;
    },
    deliverWebhooks: () => deliverDue(state),
    fetch: async (request) => {
      try {
        const { route, params } = findRoute(routes, request);
        return await answer(state, route, params, request, replays);
      } catch (error) {
        if (error instanceof Failure) return renderFailure(request, error);
        throw error;
      }
    },
  };
}

function createHandlers(state: State): FakeHandlers {
  const ofPublic = refusePublic(state);
  return {
    account: accountHandlers(state),
    auth: authHandlers(state),
    sessions: sessionHandlers(state),
    identityProvider: identityProviderHandlers(state),
    development: developmentHandlers(state),
    apiKeys: apiKeyHandlers(state),
    invites: inviteHandlers(state),
    vaults: vaultHandlers(state),
    members: { list: ofPublic, add: ofPublic, remove: ofPublic },
    ownership: { claim: ofPublic },
    deletion: { challenge: ofPublic },
    vaultKeys: { list: ofPublic, publish: ofPublic, steps: ofPublic },
    folderNames: { get: ofPublic, stage: ofPublic },
    folders: folderHandlers(state),
    files: fileHandlers(state),
    uploads: { ...uploadHandlers(state), options: () => announceTus() },
    trash: trashHandlers(state),
    billing: billingHandlers(state),
    audit: auditHandlers(state),
    webhooks: webhookHandlers(state),
    webhookEvents: catalogueHandlers(),
    events: eventHandlers(state),
    changes: changesHandlers(state),
    system: {
      health: () => ({ status: "ok", version: "0.0.0-fake" }),
      ready: () => ({ status: "ready" }),
      metrics: () =>
        new Reply(new TextEncoder().encode("# TYPE fake gauge\nfake 1\n"), {
          headers: { "content-type": "text/plain; version=0.0.4" },
        }),
      openapi: () => ({ openapi: "3.1.0", info: { title: "Coffer (fake)", version: "0.0.0" }, paths: {} }),
    },
  };
}

/** The fake makes public vaults only: it refuses the parts of shared ones as the service refuses them there. */
function refusePublic(state: State) {
  return ({ params }: { readonly params: { readonly vaultId: string } }, caller: Caller): never => {
    readVaultOrTrashed(state, caller, params.vaultId);
    throw new Failure("public_vault");
  };
}

type AnyHandler = (input: never, context: never) => unknown;

interface Route {
  readonly endpoint: EndpointDefinition;
  readonly pattern: RegExp;
  readonly handler: AnyHandler;
}

function compileRoutes(handlers: FakeHandlers): Route[] {
  const groups = Object.entries<Readonly<Record<string, AnyHandler>>>(handlers);
  const byId = new Map(
    groups.flatMap(([group, members]) =>
      Object.entries(members).map(([name, handler]) => [`${group}.${name}`, handler] as const),
    ),
  );
  const routes = endpointsOf(api).flatMap((endpoint) => {
    const handler = byId.get(endpoint.id);
    if (handler === undefined) throw new Error(`no handler for ${endpoint.id}`);
    const paths = [endpoint.path, ...(endpoint.aliases ?? [])];
    const [pattern, ...aliases] = paths.map(
      (path) => new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}/?$`),
    );
    if (pattern === undefined) throw new Error(`no path for ${endpoint.id}`);
    return [pattern, ...aliases].map((each) => ({ endpoint, pattern: each, handler }));
  });
  // A path without parameters comes before one that would take its last word for an id.
  const isFixed = ({ pattern }: Route) => !pattern.source.includes("(?<");
  return [...routes.filter(isFixed), ...routes.filter((route) => !isFixed(route))];
}

function findRoute(routes: readonly Route[], request: Request): { route: Route; params: Record<string, string> } {
  const { pathname } = new URL(request.url);
  const here = routes.filter((route) => route.pattern.test(pathname));
  const route = here.find(({ endpoint }) => endpoint.method === request.method);
  if (route !== undefined) return { route, params: { ...route.pattern.exec(pathname)?.groups } };
  if (here.length === 0) throw new Failure("not_found");
  throw new Failure("method_not_allowed", undefined, { allow: here.map(({ endpoint }) => endpoint.method).join(", ") });
}

function visitorOf({ url, headers }: Request): Visitor {
  const { origin } = new URL(url);
  return { origin, requestId: headers.get(HEADERS.requestId), userAgent: headers.get("user-agent") };
}

/** A first answer, kept for repeats. */
interface Replay {
  readonly fingerprint: string;
  readonly status: number;
  readonly headers: Headers;
  /** null: an answer without one. */
  readonly body: Uint8Array<ArrayBuffer> | null;
}

async function answer(
  state: State,
  route: Route,
  params: Readonly<Record<string, string>>,
  request: Request,
  replays: Map<string, Replay>,
): Promise<Response> {
  const { endpoint } = route;
  const visitor = visitorOf(request);
  const caller = endpoint.auth === "none" ? null : authenticate(state, request, visitor);
  if (caller !== null) {
    takeRequest(state, caller.key.budgets ?? []);
    authorize(endpoint, caller);
  }
  const run = async (): Promise<Response> => {
    const input = await parseInput(endpoint, request, params);
    const before = contentBefore(state, endpoint.id, params);
    const outcome = (await route.handler(input as never, (caller ?? visitor) as never)) as Outcome<EndpointDefinition>;
    if (caller !== null) recordContent(state, caller, endpoint.id, params, outcome, before);
    return renderOutcome(endpoint, request, outcome);
  };
  const key = request.headers.get(HEADERS.idempotencyKey);
  if (key === null || caller === null || !takesIdempotencyKey(endpoint)) return run();
  if (key.length > MAX_IDEMPOTENCY_KEY || key === "")
    throw new Failure("validation_failed", "headers.idempotency-key: 1 to 255 characters");
  return once(replays, `${caller.accountId} ${key}`, endpoint, request, run);
}

/** Decisions §1: the same key and request answer the first response again; an answer with a secret is not kept. */
async function once(
  replays: Map<string, Replay>,
  key: string,
  endpoint: EndpointDefinition,
  request: Request,
  run: () => Promise<Response>,
): Promise<Response> {
  const url = new URL(request.url);
  const body = toHex(await digestOf(new Uint8Array(await request.clone().arrayBuffer())));
  const fingerprint = [request.method, url.pathname, url.search, body].join(" ");
  const kept = replays.get(key);
  if (kept === undefined) {
    const first = await run();
    const { status, headers } = first;
    const body = first.body === null ? null : new Uint8Array(await first.arrayBuffer());
    replays.set(key, { fingerprint, status, headers, body });
    return new Response(body, { status, headers });
  }
  if (kept.fingerprint !== fingerprint) throw new Failure("idempotency_mismatch");
  if (endpoint.secretResponse === true) throw new Failure("already_created", `This key made ${idIn(kept.body)}`);
  const headers = new Headers(kept.headers);
  headers.set(HEADERS.idempotentReplay, "true");
  return new Response(kept.body, { status: kept.status, headers });
}

function idIn(body: Uint8Array | null): string {
  const value: unknown = JSON.parse(new TextDecoder().decode(body ?? Uint8Array.of()));
  return typeof value === "object" && value !== null && "id" in value && typeof value.id === "string"
    ? value.id
    : "something";
}

function authorize(endpoint: EndpointDefinition, caller: Caller): void {
  if (endpoint.access === "owner" && caller.key.value.accessLevel !== "owner") throw new Failure("owner_only");
  const scope = scopeOf(endpoint, caller.key.value.accessLevel);
  if (scope !== null && !hasScope(caller, scope))
    throw new Failure("missing_scope", `The key lacks the scope ${scope}`);
  if (endpoint.vaultLimit === "refuse" && caller.key.value.vaultIds !== null) throw new Failure("vault_limited_key");
}
