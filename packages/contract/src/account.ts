import * as z from "zod/mini";
import { budgets, budgetUse } from "./budgets.ts";
import { endpoint } from "./endpoint.ts";
import { chainSignature } from "./proofs.ts";
import { SCOPES } from "./scopes.ts";
import { namedCredential, chainAddress, label, openEnum, timestamp, uuid } from "./values.ts";

/** Bytes and files an account holds, trash and kept versions included. `versionBytes`: those of kept versions. */
const usage = z.object({ bytes: z.int(), files: z.int(), versionBytes: z.int() });

/** What the account's plan allows. All sizes in bytes. */
const limits = z.object({
  storageBytes: z.int(),
  fileBytes: z.int(),
  rawUploadBytes: z.int(),
  vaults: z.int(),
  apiKeys: z.int(),
  invites: z.int(),
  folderDepth: z.int(),
});

export const account = z.object({
  id: uuid,
  email: z.string(),
  emailVerified: z.boolean(),
  name: z.nullable(z.string()),
  accessLevel: openEnum(["owner", "agent"]),
  chainAddress: z.nullable(chainAddress),
  chainAddressSource: z.nullable(openEnum(["zklogin", "external"])),
  plan: openEnum(["free", "pro"]),
  usage,
  limits,
  createdAt: timestamp,
});

/** The credential of this call: its rights and its end. Never the secret. */
export const credential = z.object({
  /** The address that the credential is bound to. The account's own address is in the account. */
  ...namedCredential,
  scopes: z.nullable(z.array(openEnum(SCOPES))),
  vaultIds: z.nullable(z.array(uuid)),
  expiresAt: z.nullable(timestamp),
  budgets,
  budgetUse,
});

export interface Account extends z.infer<typeof account> {}
export interface Credential extends z.infer<typeof credential> {}

export const accountGroup = {
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
    output: z.object({ account, credential }),
    errors: [],
  }),
  update: endpoint({
    id: "account.update",
    method: "PATCH",
    path: "/api/account",
    auth: "credential",
    access: "owner",
    scope: "account:write",
    vaultLimit: "none",
    effect: "update",
    body: z.strictObject({ name: z.optional(z.nullable(label)) }),
    status: 200,
    output: z.object({ account }),
    errors: [],
  }),
  linkChainChallenge: endpoint({
    id: "account.linkChainChallenge",
    method: "POST",
    path: "/api/account/link-chain/challenge",
    auth: "credential",
    access: "owner",
    scope: "account:write",
    vaultLimit: "refuse",
    effect: "update",
    body: z.strictObject({}),
    bodyOptional: true,
    status: 200,
    output: z.object({ nonce: z.string(), expiresAt: timestamp }),
    errors: [],
  }),
  linkChain: endpoint({
    id: "account.linkChain",
    method: "POST",
    path: "/api/account/link-chain",
    auth: "credential",
    access: "owner",
    scope: "account:write",
    vaultLimit: "refuse",
    effect: "append",
    body: z.strictObject({
      chainAddress,
      /** A signature of `renderLinkText`. */
      signature: chainSignature,
      nonce: z.string().check(z.minLength(1), z.maxLength(128)),
    }),
    status: 200,
    output: z.object({ account }),
    errors: ["token_invalid", "signature_invalid", "address_conflict", "not_configured", "chain_unavailable"],
  }),
} as const;
