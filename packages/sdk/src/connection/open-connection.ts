/** The options of a client, and the connection that they make. */
import type { ChainNetwork } from "@coffer/contract";
import { serviceIdentity } from "../signers/signer.ts";
import { type Clock, systemClock } from "../http/clock.ts";
import { configurationError, type ContractError, SdkError } from "../http/errors.ts";
import type { Bearer, Connection, SharedVaults, TimeLimits } from "./options.ts";
import { sanitizeCause } from "../http/redaction.ts";
import { requireKnown } from "./known-options.ts";
import { DEFAULT_RETRY, RetryBudget, type RetryPolicy } from "../http/retry.ts";
import { nodeVersion } from "../http/runtime.ts";
import { Secret } from "../http/secret.ts";
import { SessionCredentials } from "./session-credentials.ts";
import { kyTransport, type Middleware, type Transport } from "../http/transports.ts";
import { memoryPins } from "../shared-vaults/trust/pins.ts";

/** The development rule of a service, made by {@link developmentCredentials}. */
export interface DevelopmentCredentials {
  readonly development: { readonly userId: string | null };
}

/**
 * An API key, as text or wrapped, a web session, or the development rule. null: the client can call only endpoints
 * that need no credential (sign-up, sign-in, redeeming an invite). Other calls fail with `credential_missing`, and
 * nothing is sent.
 */
export type Credentials =
  | { readonly apiKey: string | Secret }
  | Secret
  | SessionCredentials
  | DevelopmentCredentials
  | null;

/**
 * Acts as the owner of an account without any secret, on a service in development (`SERVICE_ENV=development`) on this machine. Another
 * service answers `invalid_credential`.
 * @param options.userId the account's id; by default the first account of the service.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl: "http://127.0.0.1:8787", credentials: developmentCredentials() });
 * ```
 */
export function developmentCredentials(options: { readonly userId?: string } = {}): DevelopmentCredentials {
  const { userId = null } = options;
  // An unset variable must not switch to another account.
  if (userId === null && "userId" in options) throw configurationError("userId is undefined");
  return { development: { userId } };
}

export interface ClientOptions {
  /** `http:` or `https:` address of the service; a path is kept as a prefix. */
  readonly baseUrl: string | URL;
  /** A function is called before every attempt, so that it can return a rotated key. Default: null, no credential. */
  readonly credentials?: Credentials | (() => Credentials | Promise<Credentials>) | undefined;
  /** Carries requests. Default: `kyTransport()`, over the runtime's `fetch`. */
  readonly transport?: Transport | undefined;
  /** Which failures are repeated, and when. Each field has its own default. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Milliseconds. Each field has its own default. */
  readonly timeouts?: Partial<TimeLimits> | undefined;
  /** Sees every attempt, the first of them outermost. Default: none. */
  readonly middleware?: readonly Middleware[] | undefined;
  /**
   * `enforce` (default): an answer that breaks the contract is a ContractError. `report`: `onContractError` gets the
   * error, and the caller the answer.
   */
  readonly responses?: "enforce" | "report" | undefined;
  readonly onContractError?: ((error: ContractError) => void) | undefined;
  /** The chain that signatures name. Default: a local one for services on this machine, else the main one. */
  readonly network?: ChainNetwork | undefined;
  /**
   * `sharedVaults({ signer, network })` of `@coffer/sdk/shared`: encrypts and decrypts here. Without it you can only
   * list shared vaults.
   */
  readonly sharedVaults?: SharedVaults | undefined;
  /** Appended to the client identification: `name/version`. Default: nothing. */
  readonly application?: string | undefined;
  readonly clock?: Clock | undefined;
}

export const SDK_VERSION = "0.1.0";

const DEFAULT_TIMEOUTS: TimeLimits = { attemptMs: 30_000, totalMs: 120_000, stallMs: 60_000 };

const OPTION_NAMES = Object.keys({
  baseUrl: true,
  credentials: true,
  transport: true,
  retry: true,
  timeouts: true,
  middleware: true,
  responses: true,
  onContractError: true,
  network: true,
  sharedVaults: true,
  application: true,
  clock: true,
} satisfies Record<keyof ClientOptions, true>);

/** Throws SdkError `configuration` for an unusable base URL, key or network, and for an unknown option. */
export function openConnection(options: ClientOptions): Connection {
  requireKnown("createClient", options, OPTION_NAMES);
  requireKnown("retry", options.retry ?? {}, Object.keys(DEFAULT_RETRY));
  requireKnown("timeouts", options.timeouts ?? {}, Object.keys(DEFAULT_TIMEOUTS));
  const retry = { ...DEFAULT_RETRY, ...options.retry };
  const baseUrl = parseBaseUrl(options.baseUrl);
  const { credentials = null } = options;
  if (options.sharedVaults != null) requireCode(options.sharedVaults);
  const readCredential = credentialSource(credentials);
  const connection: Connection = {
    baseUrl,
    credential: async () => bearerOf(connection, await readCredential()),
    session: credentials instanceof SessionCredentials ? credentials : null,
    service: serviceIdentity(baseUrl, options.network ?? options.sharedVaults?.network.network),
    transport: options.transport ?? kyTransport(),
    middleware: options.middleware ?? [],
    retry,
    budget: new RetryBudget(retry),
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    contractBroken: (error) => {
      options.onContractError?.(error);
      if (options.responses !== "report") throw error;
    },
    identification: identify(options.application),
    clock: options.clock ?? systemClock,
    // A caller who gives no store has one in memory.
    sharedVaults: options.sharedVaults
      ? { ...options.sharedVaults, pins: options.sharedVaults.pins ?? memoryPins() }
      : null,
  };
  return connection;
}

async function bearerOf(connection: Connection, credential: HeldCredential): Promise<Bearer | null> {
  if (credential instanceof SessionCredentials) return credential.bearer(connection);
  if (credential instanceof Secret) return { secret: credential, userId: null, renew: null };
  return credential === null ? null : { secret: null, ...credential.development, renew: null };
}

function parseBaseUrl(text: string | URL): string {
  const url = URL.parse(String(text));
  if (url === null || !/^https?:$/.test(url.protocol))
    throw configurationError("The base URL must be an http or https address, such as https://coffer.example.com");
  if (url.username !== "" || url.password !== "") throw configurationError("The base URL must not hold a credential");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

type HeldCredential = Secret | SessionCredentials | DevelopmentCredentials | null;

function credentialSource(
  credentials: NonNullable<ClientOptions["credentials"]> | null,
): () => Promise<HeldCredential> {
  if (typeof credentials === "function") return () => callCredentialFunction(credentials);
  const fixed = wrapCredential(credentials);
  return () => Promise.resolve(fixed);
}

async function callCredentialFunction(
  getCredential: () => Credentials | Promise<Credentials>,
): Promise<HeldCredential> {
  try {
    return wrapCredential(await getCredential());
  } catch (error) {
    if (error instanceof SdkError) throw error;
    throw configurationError("The credentials function failed", sanitizeCause(error));
  }
}

function wrapCredential(credentials: Credentials): HeldCredential {
  if (credentials === null || credentials instanceof Secret || credentials instanceof SessionCredentials)
    return credentials;
  // An unset environment variable, and the key itself instead of the object, arrive in spite of the type. None of it is quoted.
  if (typeof credentials !== "object")
    throw configurationError("credentials is no object: pass { apiKey } with the key's text, or a session");
  if ("development" in credentials) return credentials;
  const { apiKey }: { readonly apiKey?: unknown } = credentials;
  if (typeof apiKey === "object" && apiKey !== null && !(apiKey instanceof Secret))
    throw configurationError(
      "The API key lost its text, as structuredClone and postMessage take it from a Secret: pass the text, and wrap it where it is used",
    );
  const secret = typeof apiKey === "string" ? new Secret(apiKey) : apiKey;
  if (!(secret instanceof Secret) || !/^[\x21-\x7e]+$/.test(secret.reveal()))
    throw configurationError("The API key is missing or malformed: pass { apiKey } with the key's text, or a session");
  return secret;
}

/** `User-Agent` if it may be set, `X-Client` in browsers, which reserve the other. */
function identify(application: string | undefined): Record<string, string> {
  const node = nodeVersion();
  const name = `coffer-sdk/${SDK_VERSION}`;
  const suffix = application !== undefined && /^[\w./-]{1,100}$/.test(application) ? ` ${application}` : "";
  return node === null ? { "x-client": `${name}${suffix}` } : { "user-agent": `${name} node/${node}${suffix}` };
}

/** A caller in JavaScript may pass the options themselves. */
function requireCode({ code }: Partial<SharedVaults>): void {
  if (typeof code !== "function")
    throw configurationError("Pass sharedVaults: sharedVaults({ ... }), imported from @coffer/sdk/shared");
}
