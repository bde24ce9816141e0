import type { ChainNetwork } from "@coffer/contract";
import { placeOf, type Place, type Signer } from "./chain/signer.ts";
import type { ContractError } from "./errors.ts";
import type { NetworkConfiguration, SealKeyWrap, SealKeyWrapOptions } from "@coffer/chain";
import type { CryptoPlatform } from "@coffer/crypto";
import { configurationError, SdkError } from "./errors.ts";
import { systemClock, type Clock } from "./clock.ts";
import { requireNetwork } from "./network-option.ts";
import { sanitizeCause } from "./redaction.ts";
import { DEFAULT_RETRY, RetryBudget, type RetryPolicy } from "./retry.ts";
import { nodeVersion } from "./runtime.ts";
import { Secret } from "./secret.ts";
import { SessionCredentials } from "./session/credentials.ts";
import type { CreationJournal } from "./vaults/create.ts";
import { memoryPins, type PinStore } from "./vaults/memory/pins.ts";
import type { UploadJournals } from "./vaults/content/upload-journal.ts";
import type { SeenStore } from "./vaults/memory/seen.ts";
import { kyTransport, type Middleware, type Transport } from "./transports.ts";

/** An API key, as text or wrapped, or a web session. null: call without a credential. */
export type Credentials = { readonly apiKey: string | Secret } | Secret | SessionCredentials | null;

/** What goes into the Authorization header, and how to get another when the service no longer takes it. */
export interface Bearer {
  readonly secret: Secret;
  readonly renew: (() => Promise<void>) | null;
}

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
  /** The chain that signatures name: a local one for services on this machine, else the main one, when absent. */
  readonly network?: ChainNetwork | undefined;
  /** Shared vaults are encrypted and decrypted here; without it they can be listed and nothing else. */
  readonly sharedVaults?: SharedVaultOptions | undefined;
  /** Appended to the client identification: `name/version`. */
  readonly application?: string | undefined;
  readonly clock?: Clock | undefined;
}

/** Who this client is on the chain, and which chain that is. None of it is ever taken from the service. */
export interface SharedVaultOptions {
  /** Its address must be on a vault's allowlist; the key never leaves this machine. */
  readonly signer: Signer;
  /** Chain node, package and key servers: see `@coffer/chain`. May hold API keys of key servers. */
  readonly network: NetworkConfiguration;
  /** What vaults are held to between runs; in memory when absent. */
  readonly pins?: PinStore | undefined;
  /** Which statements were seen, so that no older one is taken by a later run; in memory when absent. */
  readonly seen?: SeenStore | undefined;
  /** Unfinished creations of vaults; without one, a crash between chain and service leaves a vault object that nobody uses. */
  readonly creations?: CreationJournal | undefined;
  /** Unfinished uploads of a rotation; without it, a large file whose rotation was cut off begins again. */
  readonly uploads?: UploadJournals | undefined;
  /** Carries requests to the chain and the key servers; the runtime's own when absent. */
  readonly fetch?: typeof fetch | undefined;
  /** This machine's time in milliseconds since 1970; `Date.now` when absent. */
  readonly clock?: (() => number) | undefined;
  /** Opens and seals vault keys in another way than in this thread, where a pairing takes 60 to 150 ms each; made when first needed. */
  readonly keyWrap?: ((parts: KeyWrapParts) => SealKeyWrap) | undefined;
  /** Makes files as fast as the runtime can: `nodePlatform` of `@coffer/crypto/node`; WebCrypto when absent. */
  readonly platform?: CryptoPlatform | undefined;
}

/** What a key wrap is made of. */
export type KeyWrapParts = Pick<SealKeyWrapOptions, "network" | "signer" | "vaultObjects">;

/** Where and how calls go: options with their defaults, made once per client. */
export interface Connection {
  readonly baseUrl: string;
  readonly credential: () => Promise<Bearer | null>;
  /** The session this client was opened with; null for a key, and for credentials that a function gives. */
  readonly session: SessionCredentials | null;
  /** What signatures must name. */
  readonly place: Place;
  readonly transport: Transport;
  readonly middleware: readonly Middleware[];
  /** Nobody but the SDK sees the bytes of answers: neither a transport nor a middleware of the caller's. */
  readonly direct: boolean;
  readonly retry: RetryPolicy;
  readonly budget: RetryBudget;
  readonly timeouts: TimeLimits;
  readonly contractBroken: (error: ContractError) => void;
  readonly identification: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** null: this client neither reads nor writes shared vaults. */
  readonly sharedVaults: SharedVaultOptions | null;
}

export const SDK_VERSION = "0.1.0";
const DEFAULT_TIMEOUTS: TimeLimits = { attemptMs: 30_000, totalMs: 120_000, stallMs: 60_000 };

/** Throws SdkError `configuration` for an unusable base URL, key or network. */
export function openConnection(options: ClientOptions): Connection {
  const retry = { ...DEFAULT_RETRY, ...options.retry };
  const baseUrl = parseBaseUrl(options.baseUrl);
  const { credentials = null } = options;
  if (options.sharedVaults != null) requireNetwork(options.sharedVaults.network);
  const ask = credentialSource(credentials);
  const connection: Connection = {
    baseUrl,
    credential: async () => bearerOf(connection, await ask()),
    session: credentials instanceof SessionCredentials ? credentials : null,
    place: placeOf(baseUrl, options.network ?? options.sharedVaults?.network.network),
    transport: options.transport ?? kyTransport(),
    middleware: options.middleware ?? [],
    direct: options.transport === undefined && options.middleware === undefined,
    retry,
    budget: new RetryBudget(retry),
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    contractBroken: (error) => {
      options.onContractError?.(error);
      if (options.responses !== "report") throw error;
    },
    identification: identify(options.application),
    clock: options.clock ?? systemClock,
    // Whoever gives no store has one in memory.
    sharedVaults: options.sharedVaults
      ? { ...options.sharedVaults, pins: options.sharedVaults.pins ?? memoryPins() }
      : null,
  };
  return connection;
}

async function bearerOf(connection: Connection, held: Secret | SessionCredentials | null): Promise<Bearer | null> {
  if (held instanceof SessionCredentials) return held.bearer(connection);
  return held === null ? null : { secret: held, renew: null };
}

function parseBaseUrl(text: string | URL): string {
  const url = URL.parse(String(text));
  if (url === null || !/^https?:$/.test(url.protocol))
    throw configurationError("The base URL must be an http or https address");
  if (url.username !== "" || url.password !== "") throw configurationError("The base URL must not hold a credential");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

type Held = Secret | SessionCredentials | null;

function credentialSource(credentials: NonNullable<ClientOptions["credentials"]> | null): () => Promise<Held> {
  if (typeof credentials === "function") return () => askForCredential(credentials);
  const fixed = wrapCredential(credentials);
  return () => Promise.resolve(fixed);
}

async function askForCredential(ask: () => Credentials | Promise<Credentials>): Promise<Held> {
  try {
    return wrapCredential(await ask());
  } catch (error) {
    if (error instanceof SdkError) throw error;
    throw configurationError("The credentials function failed", sanitizeCause(error));
  }
}

function wrapCredential(credentials: Credentials): Held {
  if (credentials === null || credentials instanceof Secret || credentials instanceof SessionCredentials)
    return credentials;
  // An environment variable that is not set, and the key itself in the place of the object, come in spite of the type.
  const { apiKey }: { readonly apiKey: unknown } = credentials;
  const secret = typeof apiKey === "string" ? new Secret(apiKey) : apiKey;
  if (!(secret instanceof Secret) || !/^[\x21-\x7e]+$/.test(secret.reveal()))
    throw configurationError("The API key is missing, or has characters that no key has");
  return secret;
}

/** `User-Agent` where it may be set, `X-Client` in browsers, which keep the other for themselves. */
function identify(application: string | undefined): Record<string, string> {
  const node = nodeVersion();
  const name = `coffer-sdk/${SDK_VERSION}`;
  const suffix = application !== undefined && /^[\w./-]{1,100}$/.test(application) ? ` ${application}` : "";
  return node === null ? { "x-client": `${name}${suffix}` } : { "user-agent": `${name} node/${node}${suffix}` };
}
