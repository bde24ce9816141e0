/** A provider's facts from its discovery document (OpenID Connect Discovery §4), read when they are first needed. */
import * as jose from "jose";
import * as openid from "openid-client";
import type { IdentityProviderConfig } from "../../config.ts";
import { isLoopbackHost } from "../../config/loopback.ts";
import type { Clock } from "../../ports/clock.ts";
import { IdentityUnavailableError } from "../../ports/identity-provider.ts";
import { boundedFetch } from "../bounded-fetch.ts";
import { toIdentityError } from "./failures.ts";

export interface Discovered {
  readonly issuer: string;
  readonly client: openid.Configuration;
  /** The provider's keys; read again when a token names an unknown one, at most every half minute. */
  readonly keys: jose.JWTVerifyGetKey;
  readonly hasUserInfo: boolean;
}

export interface DiscoveryOptions {
  readonly clock: Clock;
  /** Milliseconds of one request. */
  readonly timeout: number;
}

/** Endpoints move rarely: a document is read again after this. Milliseconds. */
const FRESH = 3_600_000;
/** After a failure, callers get an error at once for this long: not every sign-in asks a provider that is down. */
const PAUSE = 1_000;

/**
 * The provider's document, read once and shared by all who wait for it. A document that cannot be read again goes on
 * being used. The function rejects with {@link IdentityUnavailableError}.
 */
export function openDiscovery(config: IdentityProviderConfig, options: DiscoveryOptions): () => Promise<Discovered> {
  const { clock } = options;
  let known: { readonly value: Discovered; readonly readAt: number } | null = null;
  let running: Promise<Discovered> | null = null;
  let failedAt: number | null = null;

  const read = async (): Promise<Discovered> => {
    try {
      const value = await discover(config, options);
      known = { value, readAt: clock.elapsed() };
      failedAt = null;
      return value;
    } catch (error) {
      failedAt = clock.elapsed();
      if (known !== null) return known.value;
      throw unavailable(error);
    } finally {
      running = null;
    }
  };
  return async () => {
    if (known !== null && clock.elapsed() - known.readAt < FRESH) return known.value;
    if (running === null && failedAt !== null && clock.elapsed() - failedAt < PAUSE) {
      if (known !== null) return known.value;
      throw new IdentityUnavailableError("the identity provider could not be reached a moment ago");
    }
    return (running ??= read());
  };
}

/** http is for a provider on this machine only: tokens and the client's secret would travel in the clear. */
export function isSafeAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
}

async function discover(config: IdentityProviderConfig, { timeout }: DiscoveryOptions): Promise<Discovered> {
  const server = new URL(config.issuer);
  const isLocal = server.protocol === "http:";
  const found = await openid.discovery(server, config.clientId, undefined, openid.None(), {
    [openid.customFetch]: boundedFetch as openid.CustomFetch,
    timeout: timeout / 1000,
    execute: isLocal ? [openid.allowInsecureRequests] : [],
  });
  const metadata = found.serverMetadata();
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = metadata;
  for (const address of [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint ?? config.issuer]) {
    if (address === undefined || !isSafeAddress(address)) {
      throw new IdentityUnavailableError("the identity provider's discovery document lacks a usable https endpoint");
    }
  }
  const client = new openid.Configuration(metadata, config.clientId, undefined, authenticationOf(config, metadata));
  client.timeout = timeout / 1000;
  client[openid.customFetch] = boundedFetch as openid.CustomFetch;
  if (isLocal) openid.allowInsecureRequests(client);
  const keys = jose.createRemoteJWKSet(new URL(jwks_uri ?? ""), {
    timeoutDuration: timeout,
    [jose.customFetch]: boundedFetch,
  });
  return { issuer: metadata.issuer, client, keys, hasUserInfo: userinfo_endpoint !== undefined };
}

/** OpenID Connect Discovery §3: a provider that names no method takes client_secret_basic. */
function authenticationOf({ clientSecret }: IdentityProviderConfig, metadata: openid.ServerMetadata) {
  if (clientSecret === null) return openid.None();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic")
    ? openid.ClientSecretBasic(clientSecret)
    : openid.ClientSecretPost(clientSecret);
}

/** Whatever the document did wrong, the sign-in is not to blame. */
function unavailable(error: unknown): Error {
  const known = toIdentityError(error);
  return known instanceof IdentityUnavailableError ? known : new IdentityUnavailableError(known.message);
}
