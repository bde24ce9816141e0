import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { file } from "./files.ts";
import { ownerProof } from "./proofs.ts";
import { pageQuery, uuid } from "./values.ts";
import { OWNER_PROOF_ERRORS, vault } from "./vaults.ts";

export const TRASH_DAYS = 30;

/** The queries of the trash. */
export const TRASH_KINDS = ["files", "vaults"] as const;

const leftVaultSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** Name that the owner chose. */
  name: z.string(),
});

/** A shared vault whose trash was left alone. */
export interface LeftVault extends Parsed<typeof leftVaultSchema> {}

const leftVault: Named<LeftVault> = leftVaultSchema;

export const trashGroup = {
  /** List the files or the vaults in the trash; they are purged 30 days after they went there. */
  list: endpoint({
    id: "trash.list",
    method: "GET",
    path: "/api/trash",
    auth: "credential",
    access: "agent",
    scope: "files:read",
    vaultLimit: "filter",
    effect: "read",
    query: strictObject({
      ...pageQuery,
      /** UUID of the only vault to list. Default: every vault you may read. */
      vaultId: z.optional(uuid),
      /** `files`: files in the trash. `vaults`: vaults in the trash. Default: `files`. */
      kind: z.optional(z.enum(TRASH_KINDS)),
    }),
    status: 200,
    /** One of the two is empty, by `kind`. */
    output: object({
      /** Files, newest first. */
      files: z.array(file),
      /** Vaults, newest first. */
      vaults: z.array(vault),
      /** Pass it as `cursor` to get the next page. null: this is the last page. */
      nextCursor: z.nullable(z.string()),
    }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
  /** Delete for good the files and folders in the trash of one vault, or of all public ones. The bytes leave the server's disk 24 hours later. */
  empty: endpoint({
    id: "trash.empty",
    method: "DELETE",
    path: "/api/trash",
    auth: "credential",
    access: "owner",
    scope: "files:write",
    vaultLimit: "filter",
    effect: "delete",
    /** Without `vaultId`: every public vault. Vaults in the trash keep all their content. */
    query: strictObject({
      /** UUID of the only vault whose trash is emptied. Default: every public vault of yours. */
      vaultId: z.optional(uuid),
    }),
    headers: object({
      /** Nonce of a deletion challenge, a dot, and the owner's signature. Default: none, in a public vault. */
      "coffer-proof": z.optional(ownerProof),
    }),
    status: 200,
    /** The shared vaults whose trash this call left alone. Empty each by its id, with its owner's proof. */
    output: object({
      /** Shared vaults whose trash was left alone. Empty each by its id, with the owner's proof. */
      leftVaults: z.array(leftVault),
    }),
    errors: ["not_found", ...OWNER_PROOF_ERRORS],
  }),
} as const;
