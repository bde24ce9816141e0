/**
 * A real OpenID provider on loopback (oidc-provider, in memory), whose users sign in without a browser: redirects are
 * followed over HTTP with a cookie jar. Its token endpoint can be made to lie, hang or fail.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import Provider, { type Configuration } from "oidc-provider";

export interface ProviderUser {
  readonly sub: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly name?: string;
}

export interface LocalProviderOptions {
  readonly redirectUri?: string;
  /** Puts the claims of email and profile into the ID token, as some providers do; otherwise only user info has them. */
  readonly claimsInIdToken?: boolean;
  /** null: a public client. */
  readonly clientSecret?: string | null;
}

export interface LocalProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUri: string;
  /** How many requests each path has had. */
  readonly requests: ReadonlyMap<string, number>;
  /** Answers every request to these paths instead of the provider; null: the provider itself. */
  override: ((path: string, response: ServerResponse) => boolean) | null;
  /** Signs `user` in at an authorization URL, as a browser would, and returns what the redirect brings back. */
  signIn(url: string, user: ProviderUser): Promise<{ code: string; state: string }>;
  /** An ID token of this provider's key, with these claims as they stand. */
  signToken(claims: JWTPayload, key?: "own" | "another" | "another under the same name"): Promise<string>;
  /** The claims of a good token for `user`. Times are seconds since the Unix epoch. */
  claimsFor(user: ProviderUser, more: { nonce: string; issuedAt: number; lifetime?: number }): JWTPayload;
}

const CLIENT_ID = "coffer-test-client";
const CLIENT_SECRET = "only-for-tests-0123456789abcdef0123456789abcdef";
const REDIRECT_URI = "http://localhost:3000/auth/callback";

export async function openLocalProvider(options: LocalProviderOptions = {}): Promise<LocalProvider> {
  const clientSecret = options.clientSecret === undefined ? CLIENT_SECRET : options.clientSecret;
  const redirectUri = options.redirectUri ?? REDIRECT_URI;
  const keys = await (sharedKeys ??= makeKeys());
  const users = new Map<string, ProviderUser>();
  const requests = new Map<string, number>();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = quietly(
    () => new Provider(issuer, configure(options, { clientSecret, redirectUri, users, jwk: keys.privateJwk })),
  );
  const callback = provider.callback();
  let nextUser: ProviderUser | null = null;

  const local: LocalProvider = {
    issuer,
    clientId: CLIENT_ID,
    clientSecret,
    redirectUri,
    requests,
    override: null,
    async signIn(url, user) {
      users.set(user.sub, user);
      nextUser = user;
      return followRedirects(url, redirectUri);
    },
    signToken: (claims, key = "own") => {
      const header = { alg: "RS256", kid: key === "another" ? "unknown" : keys.kid, typ: "JWT" };
      return new SignJWT(claims).setProtectedHeader(header).sign(key === "own" ? keys.own : keys.another);
    },
    claimsFor: (user, { nonce, issuedAt, lifetime = 600 }) => ({
      iss: issuer,
      aud: CLIENT_ID,
      sub: user.sub,
      nonce,
      iat: issuedAt,
      exp: issuedAt + lifetime,
      ...claimsOf(user),
    }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return local;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    requests.set(path, (requests.get(path) ?? 0) + 1);
    if (local.override?.(path, response) === true) {
      request.resume();
      return;
    }
    if (!path.startsWith("/interaction/")) return void callback(request, response);
    // The page where a person would type a password.
    await provider.interactionFinished(request, response, { login: { accountId: nextUser?.sub ?? "" } });
  }
}

/** Made once per process: RSA keys are dear, and nothing here depends on their being new. */
let sharedKeys: ReturnType<typeof makeKeys> | null = null;

async function makeKeys() {
  const [pair, other] = await Promise.all([
    generateKeyPair("RS256", { extractable: true }),
    generateKeyPair("RS256", { extractable: true }),
  ]);
  const jwk = await exportJWK(pair.privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return {
    own: pair.privateKey,
    another: other.privateKey,
    kid,
    privateJwk: { ...jwk, kid, alg: "RS256", use: "sig" },
  };
}

interface Parts {
  readonly clientSecret: string | null;
  readonly redirectUri: string;
  readonly users: ReadonlyMap<string, ProviderUser>;
  readonly jwk: object;
}

function configure(options: LocalProviderOptions, { clientSecret, redirectUri, users, jwk }: Parts): Configuration {
  const method = clientSecret === null ? "none" : "client_secret_basic";
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        ...(clientSecret === null ? {} : { client_secret: clientSecret }),
        redirect_uris: [redirectUri],
        response_types: ["code"],
        grant_types: ["authorization_code"],
        token_endpoint_auth_method: method,
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ["only for tests"] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: options.claimsInIdToken !== true,
    ttl: { AuthorizationCode: 60, AccessToken: 600, IdToken: 3600, Interaction: 600, Session: 600, Grant: 600 },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, sub) => {
      const user = users.get(sub);
      return user === undefined ? undefined : { accountId: sub, claims: () => ({ sub, ...claimsOf(user) }) };
    },
    // Nobody is asked for consent: whoever signs in has given it.
    loadExistingGrant: async (context) => {
      const { client, session, provider } = context.oidc;
      const accountId = session?.accountId;
      if (client === undefined || accountId === undefined) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  };
}

function claimsOf({ email, emailVerified, name }: ProviderUser) {
  return {
    ...(email === undefined ? {} : { email, email_verified: emailVerified ?? true }),
    ...(name === undefined ? {} : { name }),
  };
}

/** As a browser does it: every redirect, with the cookies that were set on the way. */
async function followRedirects(start: string, redirectUri: string): Promise<{ code: string; state: string }> {
  const jar = new Map<string, string>();
  let url = new URL(start);
  for (let hop = 0; hop < 10; hop += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    await response.body?.cancel();
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";", 1);
      const at = pair.indexOf("=");
      if (pair.slice(at + 1) === "") jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`the provider answered ${response.status} without a redirect`);
    url = new URL(location, url);
    if (url.href.startsWith(redirectUri)) return readCallback(url);
  }
  throw new Error("the provider redirects without end");
}

function readCallback(url: URL): { code: string; state: string } {
  const code = url.searchParams.get("code");
  const state = url.searchParams.get("state");
  if (code === null || state === null) {
    throw new Error(`the provider came back with ${url.searchParams.get("error") ?? "nothing"}`);
  }
  return { code, state };
}

/** oidc-provider warns on the console of what is meant here: memory, plain http, keys of its own. */
function quietly<Made>(make: () => Made): Made {
  const { info, warn } = console;
  console.info = console.warn = () => undefined;
  try {
    return make();
  } finally {
    Object.assign(console, { info, warn });
  }
}
