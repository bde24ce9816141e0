/** An OpenID Connect provider, through openid-client; its tokens are verified with jose. */
import * as openid from "openid-client";
import * as z from "zod/mini";
import type { IdentityProviderConfig } from "../../config.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Identity, type IdentityProvider, IdentityRefusedError } from "../../ports/identity-provider.ts";
import { type Discovered, isSafeAddress, openDiscovery } from "./discovery.ts";
import { toIdentityError } from "./failures.ts";
import { profileClaims, profileOf, verifyIdToken } from "./id-token.ts";

export interface OidcOptions {
  /** Where the provider sends the browser back to; registered there. */
  readonly redirectUri: string;
  readonly clock: Clock;
  /** Milliseconds of one request to the provider; 5,000 when absent. */
  readonly timeout?: number;
}

const TIMEOUT = 5_000;
const SCOPE = "openid email profile";

/** Asks nothing of the provider until it is needed. Throws RangeError for an http issuer that is not on this machine. */
export function openOidc(config: IdentityProviderConfig, options: OidcOptions): IdentityProvider {
  if (!isSafeAddress(config.issuer)) {
    throw new RangeError("the identity provider's address must be https; http is for loopback only");
  }
  const { redirectUri, clock } = options;
  const discovered = openDiscovery(config, { clock, timeout: options.timeout ?? TIMEOUT });
  const verify = (idToken: string, provider: Discovered): Promise<Identity> =>
    verifyIdToken(idToken, provider, { clientId: config.clientId, clock });

  return {
    authorizationUrl: withoutSecrets(async ({ state, nonce, codeChallenge }) => {
      const { client } = await discovered();
      const url = openid.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state,
        ...(nonce === null ? {} : { nonce }),
        code_challenge: codeChallenge,
        code_challenge_method: "S256",
      });
      return url.href;
    }),

    exchange: withoutSecrets(async ({ code, codeVerifier, nonce }) => {
      const provider = await discovered();
      const tokens = await openid.authorizationCodeGrant(
        provider.client,
        callbackUrl(redirectUri, provider.issuer, code),
        { pkceCodeVerifier: codeVerifier, expectedNonce: nonce, idTokenExpected: true },
      );
      // Said again with the service's own clock, and with the signature: §3.1.3.7 lets a client rely on TLS instead.
      const identity = await verify(tokens.id_token ?? "", provider);
      if (identity.nonce !== nonce) throw new IdentityRefusedError("the ID token carries another nonce");
      if (identity.email !== null || !provider.hasUserInfo) return identity;
      return { ...identity, ...(await readProfile(provider, tokens.access_token, identity.subject)) };
    }),

    verify: withoutSecrets(async (idToken) => verify(idToken, await discovered())),
  };
}

/**
 * The browser's return address, built again: the feature has checked the state. `iss` guards clients of several
 * providers against mix-up (RFC 9207 §2); here there is one, and its answer can be no other's.
 */
function callbackUrl(redirectUri: string, issuer: string, code: string): URL {
  const url = new URL(redirectUri);
  url.searchParams.set("code", code);
  url.searchParams.set("iss", issuer);
  return url;
}

/** OpenID Connect Core §5.4: in the code flow the claims of a scope are at the user-info endpoint. */
async function readProfile(provider: Discovered, accessToken: string, subject: string) {
  const answer = await openid.fetchUserInfo(provider.client, accessToken, subject);
  return profileOf(z.parse(profileClaims, answer));
}

/** Whatever a member throws leaves as an error of the port. */
function withoutSecrets<Given, Result>(member: (given: Given) => Promise<Result>): (given: Given) => Promise<Result> {
  return async (given) => {
    try {
      return await member(given);
    } catch (error) {
      throw toIdentityError(error);
    }
  };
}
