/** Sign-in through an external identity provider, with and without zkLogin (specification §4.2, §5.5; decisions §3). */
import * as z from "zod/mini";
import { accessCode, sessionTokens } from "./auth.ts";
import { endpoint } from "./endpoint.ts";
import { chainAddress } from "./values.ts";

/** How long a started sign-in may take, in minutes (decisions §3). */
export const SIGN_IN_MINUTES = 10;

const authorization = z.object({
  /** Where to send the browser: carries state, nonce and the PKCE S256 challenge. */
  url: z.string(),
  state: z.string(),
});

const code = z.string().check(z.minLength(1), z.maxLength(4096));
const state = z.string().check(z.minLength(1), z.maxLength(128));
const decimal = z.string().check(z.regex(/^\d{1,78}$/, "expected a decimal number"));

/** The parts of the nonce that binds an ephemeral key to a sign-in (zkLogin). */
const ephemeral = {
  /** Flag byte and public key of the ephemeral key, in base64, as Sui writes it. */
  ephemeralPublicKey: z.string().check(z.maxLength(256), z.regex(/^[A-Za-z0-9+/]+={0,2}$/)),
  /** The last chain epoch in which the ephemeral key may sign. */
  maxEpoch: z.int().check(z.gte(0)),
  randomness: decimal,
};

/** 27 characters of base64url: 20 bytes of a Poseidon hash (zkLogin). */
const zkloginNonce = z.string().check(z.regex(/^[\w-]{27}$/, "expected a zkLogin nonce"));

const idToken = z.string().check(z.minLength(1), z.maxLength(8192));

/** The inputs of a zkLogin signature, as a prover returns them. */
const zkloginProof = z.object({
  proofPoints: z.object({
    a: z.array(z.string()).check(z.maxLength(8)),
    b: z.array(z.array(z.string()).check(z.maxLength(8))).check(z.maxLength(8)),
    c: z.array(z.string()).check(z.maxLength(8)),
  }),
  issBase64Details: z.object({ value: z.string().check(z.maxLength(1024)), indexMod4: z.int() }),
  headerBase64: z.string().check(z.maxLength(1024)),
  addressSeed: decimal,
});

export interface ZkloginProof extends z.infer<typeof zkloginProof> {}

const identity = { chainAddress, /** The user's own salt, in decimal; every proof needs it again. */ salt: decimal };

const zkloginTokens = z.object({ ...sessionTokens.shape, ...identity, proof: z.nullable(zkloginProof) });

const combined = z.strictObject({ code, state, ...ephemeral });
const stepTwo = z.strictObject({ idToken, proof: z.optional(zkloginProof), ...ephemeral });

const open = { auth: "none", access: "anyone", scope: null, vaultLimit: "none" } as const;
const PROVIDER_ERRORS = ["not_configured", "state_invalid", "provider_refused", "provider_unavailable"] as const;
const NEW_USER_ERRORS = ["access_code_invalid", "email_exists"] as const;

export const identityProviderGroup = {
  authorize: endpoint({
    ...open,
    id: "identityProvider.authorize",
    method: "GET",
    path: "/api/auth/idp",
    effect: "create",
    query: z.strictObject({ accessCode: z.optional(accessCode) }),
    status: 200,
    output: authorization,
    errors: ["not_configured", "provider_unavailable"],
  }),
  authorizeZklogin: endpoint({
    ...open,
    id: "identityProvider.authorizeZklogin",
    method: "GET",
    path: "/api/auth/idp/zklogin",
    effect: "create",
    /**
     * Without `nonce` the address has none either. The client then adds its own before it sends the browser there. It
     * finishes with `zkloginAuth` in its combined form, which recomputes the nonce (specification §4.2 has no request
     * here).
     */
    query: z.strictObject({ nonce: z.optional(zkloginNonce), accessCode: z.optional(accessCode) }),
    status: 200,
    output: authorization,
    errors: ["not_configured", "provider_unavailable"],
  }),
  callback: endpoint({
    ...open,
    id: "identityProvider.callback",
    method: "POST",
    path: "/api/auth/idp/callback",
    effect: "create",
    body: z.strictObject({ code, state }),
    status: 200,
    output: sessionTokens,
    errors: [...PROVIDER_ERRORS, ...NEW_USER_ERRORS],
    secretResponse: true,
  }),
  zkloginToken: endpoint({
    ...open,
    id: "identityProvider.zkloginToken",
    method: "POST",
    path: "/api/auth/idp/zklogin-token",
    aliases: ["/idp/zklogin-token"],
    effect: "create",
    body: z.strictObject({ code, state }),
    status: 200,
    output: z.object({ idToken: z.string(), ...identity }),
    errors: [...PROVIDER_ERRORS, ...NEW_USER_ERRORS],
    secretResponse: true,
  }),
  zkloginAuth: endpoint({
    ...open,
    id: "identityProvider.zkloginAuth",
    method: "POST",
    path: "/api/auth/idp/zklogin-auth",
    aliases: ["/idp/zklogin-auth"],
    effect: "create",
    body: z.union([combined, stepTwo]),
    status: 200,
    output: zkloginTokens,
    errors: [...PROVIDER_ERRORS, ...NEW_USER_ERRORS, "proof_invalid", "address_conflict"],
    secretResponse: true,
  }),
} as const;
