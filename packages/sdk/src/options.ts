import type { ContractError } from "./errors.ts";
import { SdkError } from "./errors.ts";
import { systemClock, type Clock } from "./clock.ts";
import { sanitizeCause } from "./redaction.ts";
import { DEFAULT_RETRY, RetryBudget, type RetryPolicy } from "./retry.ts";
import { nodeVersion } from "./runtime.ts";
import { Secret } from "./secret.ts";
import { kyTransport, type Middleware, type Transport } from "./transports.ts";

/** An API key, as text or wrapped. null: call without a credential. */
export type Credentials = { readonly apiKey: string | Secret } | Secret | null;

/** Limits in milliseconds. Bytes have no wall limit, only a stall limit. */
export interface TimeLimits {
  /** One attempt of a JSON call, or until the headers of a byte answer. */
  readonly attemptMs: number;
  /** All attempts of a JSON call, waits included. */
  readonly totalMs: number;
  /** Longest time in which no byte of a transfer moves. */
  readonly stallMs: number;
}

export interface ClientOptions {
  /** `http:` or `https:` address of the service; a path is kept as a prefix. */
  readonly baseUrl: string | URL;
  /** A function is asked before every attempt, so that a rotated key is taken up. */
  readonly credentials?: Credentials | (() => Credentials | Promise<Credentials>) | undefined;
  readonly transport?: Transport | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
  readonly timeouts?: Partial<TimeLimits> | undefined;
  readonly middleware?: readonly Middleware[] | undefined;
  /** `enforce` (default): an answer that breaks the contract is a ContractError. `report`: it is passed on after `onContractError`. */
  readonly responses?: "enforce" | "report" | undefined;
  readonly onContractError?: ((error: ContractError) => void) | undefined;
  /** Appended to the client identification: `name/version`. */
  readonly application?: string | undefined;
  readonly clock?: Clock | undefined;
}

/** Where and how calls go: options with their defaults, made once per client. */
export interface Connection {
  readonly baseUrl: string;
  readonly credential: () => Promise<Secret | null>;
  readonly transport: Transport;
  readonly middleware: readonly Middleware[];
  readonly retry: RetryPolicy;
  readonly budget: RetryBudget;
  readonly timeouts: TimeLimits;
  readonly contractBroken: (error: ContractError) => void;
  readonly identification: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

export const SDK_VERSION = "0.1.0";
const DEFAULT_TIMEOUTS: TimeLimits = { attemptMs: 30_000, totalMs: 120_000, stallMs: 60_000 };

/** Throws SdkError `configuration` for an unusable base URL. */
export function openConnection(options: ClientOptions): Connection {
  const retry = { ...DEFAULT_RETRY, ...options.retry };
  return {
    baseUrl: parseBaseUrl(options.baseUrl),
    credential: credentialSource(options.credentials),
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
  };
}

function parseBaseUrl(text: string | URL): string {
  const url = URL.parse(String(text));
  if (url === null || !/^https?:$/.test(url.protocol))
    throw configurationError("The base URL must be an http or https address");
  if (url.username !== "" || url.password !== "") throw configurationError("The base URL must not hold a credential");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

function credentialSource(credentials: ClientOptions["credentials"]): () => Promise<Secret | null> {
  if (typeof credentials === "function") return () => askForCredential(credentials);
  const fixed = wrapCredential(credentials ?? null);
  return () => Promise.resolve(fixed);
}

async function askForCredential(ask: () => Credentials | Promise<Credentials>): Promise<Secret | null> {
  try {
    return wrapCredential(await ask());
  } catch (error) {
    if (error instanceof SdkError) throw error;
    throw configurationError("The credentials function failed", sanitizeCause(error));
  }
}

function wrapCredential(credentials: Credentials): Secret | null {
  if (credentials === null || credentials instanceof Secret) return credentials;
  const secret = typeof credentials.apiKey === "string" ? new Secret(credentials.apiKey) : credentials.apiKey;
  if (!/^[\x21-\x7e]+$/.test(secret.reveal())) throw configurationError("The API key has characters that no key has");
  return secret;
}

/** `User-Agent` where it may be set, `X-Client` in browsers, which keep the other for themselves. */
function identify(application: string | undefined): Record<string, string> {
  const node = nodeVersion();
  const name = `coffer-sdk/${SDK_VERSION}`;
  const suffix = application !== undefined && /^[\w./-]{1,100}$/.test(application) ? ` ${application}` : "";
  return node === null ? { "x-client": `${name}${suffix}` } : { "user-agent": `${name} node/${node}${suffix}` };
}

export function configurationError(message: string, cause?: Error): SdkError {
  const nextStep = "Correct the client's settings.";
  return new SdkError(message, { code: "configuration", retryable: false, nextStep }, cause);
}
