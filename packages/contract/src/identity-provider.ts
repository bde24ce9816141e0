/** Sign-in through an external identity provider, with and without zkLogin (specification §4.2, §5.5; decisions §3). */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { accessCode, sessionTokens } from "./auth.ts";
import { endpoint } from "./endpoint.ts";
import { chainAddress } from "./values.ts";

/** How long a started sign-in may take, in minutes (decisions §3). */
export const SIGN_IN_MINUTES = 10;

const authorization = object({
  /** Address to open, as an absolute URL. */
  url: z.string(),
  /** Opaque text of this sign-in. The callback must bring the same text. It lasts 10 minutes. */
  state: z.string(),
});

const code = z.string().check(z.minLength(1), z.maxLength(4096));
const state = z.string().check(z.minLength(1), z.maxLength(128));
const decimal = z.string().check(z.regex(/^\d{1,78}$/, "expected a decimal number"));

/** The parts of the nonce that binds an ephemeral key to a sign-in (zkLogin). */
const ephemeral = {
  /** Public key of this sign-in with its flag byte, in base64. */
  ephemeralPublicKey: z.string().check(z.maxLength(256), z.regex(/^[A-Za-z0-9+/]+={0,2}$/)),
  /** Last chain epoch in which the ephemeral key may sign. */
  maxEpoch: z.int().check(z.gte(0)),
  /** The random decimal number in the nonce. */
  randomness: decimal,
};

/** 27 characters of base64url: 20 bytes of a Poseidon hash (zkLogin). */
const zkloginNonce = z.string().check(z.regex(/^[\w-]{27}$/, "expected a zkLogin nonce"));

const idToken = z.string().check(z.minLength(1), z.maxLength(8192));

const proofPointsSchema = object({
  /** First point of the proof. */
  a: z.array(z.string()).check(z.maxLength(8)),
  /** Second point of the proof: pairs of coordinates. */
  b: z.array(z.array(z.string()).check(z.maxLength(8))).check(z.maxLength(8)),
  /** Third point of the proof. */
  c: z.array(z.string()).check(z.maxLength(8)),
});

/** The points of a zkLogin proof. */
export interface ZkloginProofPoints extends Parsed<typeof proofPointsSchema> {}

const proofPoints: Named<ZkloginProofPoints> = proofPointsSchema;

const issuerSchema = object({
  /** The issuer's part of the token, in base64url. */
  value: z.string().check(z.maxLength(1024)),
  /** Where that part begins in the token, modulo 4. */
  indexMod4: z.int(),
});

/** The issuer in a signed token. */
export interface ZkloginIssuer extends Parsed<typeof issuerSchema> {}

const issuer: Named<ZkloginIssuer> = issuerSchema;

/** The inputs of a zkLogin signature, as a prover returns them. */
const zkloginProofSchema = object({
  /** The three points of the proof, as decimal numbers. */
  proofPoints: proofPoints,
  /** Where the issuer is in the token. */
  issBase64Details: issuer,
  /** Header of the token, in base64url. */
  headerBase64: z.string().check(z.maxLength(1024)),
  /** Seed of the chain address, a decimal number. */
  addressSeed: decimal,
});

/** The inputs of a zkLogin signature. */
export interface ZkloginProof extends Parsed<typeof zkloginProofSchema> {}

const zkloginProof: Named<ZkloginProof> = zkloginProofSchema;

const identity = {
  /** The user's Sui address: `0x` and 64 lower-case hex digits. */
  chainAddress,
  /** The user's zkLogin salt, a decimal number. Every proof needs it again. Keep it secret. */
  salt: decimal,
};

const zkloginTokens = object({
  ...sessionTokens.shape,
  ...identity,
  /** The zkLogin proof, as the prover made it. null: none was sent or made. */
  proof: z.nullable(zkloginProof),
});

const combined = strictObject({
  /** Code that the identity provider sent to your page. */
  code,
  /** The `state` that the authorization gave. */
  state,
  ...ephemeral,
});
const stepTwo = strictObject({
  /** Signed token of the identity provider (JWT). */
  idToken,
  /** zkLogin proof of your own prover. Default: none is sent. */
  proof: z.optional(zkloginProof),
  ...ephemeral,
});

const open = { auth: "none", access: "anyone", scope: null, vaultLimit: "none" } as const;
const PROVIDER_ERRORS = ["not_configured", "state_invalid", "provider_refused", "provider_unavailable"] as const;
const NEW_USER_ERRORS = ["access_code_invalid", "email_exists"] as const;

export const identityProviderGroup = {
  /** Begin a sign-in: the identity provider's authorization URL. */
  authorize: endpoint({
    ...open,
    id: "identityProvider.authorize",
    method: "GET",
    path: "/api/auth/idp",
    effect: "create",
    query: strictObject({
      /** Code that lets a new person sign up. Default: none, where the operator asks for none. */
      accessCode: z.optional(accessCode),
    }),
    status: 200,
    output: authorization,
    errors: ["not_configured", "provider_unavailable"],
  }),
  /** Begin a zkLogin sign-in with the nonce that the client made of its ephemeral key. */
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
    query: strictObject({
      /** zkLogin nonce: 27 characters of base64url. Default: you add it to the address yourself. */
      nonce: z.optional(zkloginNonce),
      /** Code that lets a new person sign up. Default: none, where the operator asks for none. */
      accessCode: z.optional(accessCode),
    }),
    status: 200,
    output: authorization,
    errors: ["not_configured", "provider_unavailable"],
  }),
  /** Finish a sign-in: finds or creates the user and opens a session. */
  callback: endpoint({
    ...open,
    id: "identityProvider.callback",
    method: "POST",
    path: "/api/auth/idp/callback",
    effect: "create",
    body: strictObject({
      /** Code that the identity provider sent to your page. */
      code,
      /** The `state` that the authorization gave. */
      state,
    }),
    status: 200,
    output: sessionTokens,
    errors: [...PROVIDER_ERRORS, ...NEW_USER_ERRORS],
    secretResponse: true,
  }),
  /** zkLogin, step one: exchange the code for the identity token, the salt and the chain address. */
  zkloginToken: endpoint({
    ...open,
    id: "identityProvider.zkloginToken",
    method: "POST",
    path: "/api/auth/idp/zklogin-token",
    aliases: ["/idp/zklogin-token"],
    effect: "create",
    body: strictObject({
      /** Code that the identity provider sent to your page. */
      code,
      /** The `state` that the authorization gave. */
      state,
    }),
    status: 200,
    output: object({
      /** Signed token of the identity provider (JWT). It is a secret. */
      idToken: z.string(),
      ...identity,
    }),
    errors: [...PROVIDER_ERRORS, ...NEW_USER_ERRORS],
    secretResponse: true,
  }),
  /** zkLogin, combined (code and state) or step two (identity token): opens a session. */
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
