import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { budgets, budgetUse } from "./budgets.ts";
import { endpoint } from "./endpoint.ts";
import { chainSignature } from "./proofs.ts";
import { SCOPES } from "./scopes.ts";
import { namedCredential, chainAddress, label, openEnum, timestamp, uuid, type Author } from "./values.ts";

/** Bytes and files an account holds, trash and kept versions included. `versionBytes`: those of kept versions. */
const usageSchema = object({
  /** Stored bytes, trash and kept versions included. */
  bytes: z.int(),
  /** Number of files, trash included. */
  files: z.int(),
  /** Bytes of replaced versions that are kept. They are part of `bytes`. */
  versionBytes: z.int(),
});

/** What an account stores. */
export interface AccountUsage extends Parsed<typeof usageSchema> {}

const usage: Named<AccountUsage> = usageSchema;

/** What the account's plan allows. All sizes in bytes. */
const limitsSchema = object({
  /** Most bytes the account may store. */
  storageBytes: z.int(),
  /** Most bytes of one file. */
  fileBytes: z.int(),
  /** Most bytes of one plain upload. Larger files use resumable uploads. */
  rawUploadBytes: z.int(),
  /** Most vaults the account may have. */
  vaults: z.int(),
  /** Most active API keys. */
  apiKeys: z.int(),
  /** Most open invites. */
  invites: z.int(),
  /** Most levels of folders inside each other. */
  folderDepth: z.int(),
});

/** What the plan of an account allows. */
export interface AccountLimits extends Parsed<typeof limitsSchema> {}

const limits: Named<AccountLimits> = limitsSchema;

const accountSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** E-mail address in lower case. */
  email: z.string(),
  /** Whether the address was verified. Billing needs it; files and vaults do not. */
  emailVerified: z.boolean(),
  /** Name for people to read. null: none was given. */
  name: z.nullable(z.string()),
  /** `owner`: may do everything its scopes allow. `agent`: may not manage vaults, keys, members, billing or webhooks. */
  accessLevel: openEnum(["owner", "agent"]),
  /** Sui address: `0x` and 64 lower-case hex digits. null: none is linked. */
  chainAddress: z.nullable(chainAddress),
  /** `zklogin`: made by a zkLogin sign-in. `external`: linked with a signature. null: no address. */
  chainAddressSource: z.nullable(openEnum(["zklogin", "external"])),
  /** `free` or `pro`. It sets the limits of the account. */
  plan: openEnum(["free", "pro"]),
  /** What the account stores now, trash included. */
  usage,
  /** What the plan allows. */
  limits,
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
});

/** An account with its plan, its use and its limits. */
export interface Account extends Parsed<typeof accountSchema> {}

export const account: Named<Account> = accountSchema;

/** The credential of this call: its rights and its end. Never the secret. */
const credentialSchema = object({
  /** The address that the credential is bound to. The account's own address is in the account. */
  ...namedCredential,
  /** What it may do, such as `files:read`. null: everything its access level allows. */
  scopes: z.nullable(z.array(openEnum(SCOPES))),
  /** UUIDs of the vaults it may use. null: every vault of the account. */
  vaultIds: z.nullable(z.array(uuid)),
  /** When it ends: RFC 3339 in UTC. null: never. */
  expiresAt: z.nullable(timestamp),
  /** How much the key may store, write and ask. null: it has no budgets. */
  budgets,
  /** What is used and left of each budget that the key has. null: it has none. */
  budgetUse,
});

/** The credential of a call, and its rights. */
export interface Credential extends Author, Omit<Parsed<typeof credentialSchema>, keyof Author> {}

export const credential: Named<Credential> = credentialSchema;

export const accountGroup = {
  /** The account, the caller's access level and the credential of this call. */
  get: endpoint({
    id: "account.get",
    method: "GET",
    path: "/api/account",
    auth: "credential",
    access: "agent",
    scope: null,
    vaultLimit: "none",
    effect: "read",
    status: 200,
    output: object({
      /** The account as it is now. */
      account,
      /** The credential of this call. It never holds the secret. */
      credential,
    }),
    errors: [],
  }),
  /** Change the account's name. */
  update: endpoint({
    id: "account.update",
    method: "PATCH",
    path: "/api/account",
    auth: "credential",
    access: "owner",
    scope: "account:write",
    vaultLimit: "none",
    effect: "update",
    body: strictObject({
      /** Name for people to read: 1 to 200 characters. null removes it. Default: unchanged. */
      name: z.optional(z.nullable(label)),
    }),
    status: 200,
    output: object({
      /** The account as it is now. */
      account,
    }),
    errors: [],
  }),
  /** A nonce to sign for linking a chain address: 10 minutes, single use, for this credential only. */
  linkChainChallenge: endpoint({
    id: "account.linkChainChallenge",
    method: "POST",
    path: "/api/account/link-chain/challenge",
    auth: "credential",
    access: "owner",
    scope: "account:write",
    vaultLimit: "refuse",
    effect: "update",
    body: strictObject({}),
    bodyOptional: true,
    status: 200,
    output: object({
      /** Text to sign once. It ends at `expiresAt`. */
      nonce: z.string(),
      /** When the nonce ends: RFC 3339 in UTC, 10 minutes after it was made. */
      expiresAt: timestamp,
    }),
    errors: [],
  }),
  /** Link the chain address that signed the challenge to the account. */
  linkChain: endpoint({
    id: "account.linkChain",
    method: "POST",
    path: "/api/account/link-chain",
    auth: "credential",
    access: "owner",
    scope: "account:write",
    vaultLimit: "refuse",
    effect: "append",
    body: strictObject({
      /** Sui address: `0x` and 64 lower-case hex digits. */
      chainAddress,
      /** Serialised Sui signature of the expected text, in base64. */
      signature: chainSignature,
      /** The nonce of the challenge. */
      nonce: z.string().check(z.minLength(1), z.maxLength(128)),
    }),
    status: 200,
    output: object({
      /** The account as it is now. */
      account,
    }),
    errors: ["token_invalid", "signature_invalid", "address_conflict", "not_configured", "chain_unavailable"],
  }),
} as const;
