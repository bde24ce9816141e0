/** What comes before a deletion of something in a shared vault, and after one of a vault. Clients load it when they need it. */
import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { itemName, timestamp, uuid } from "./values.ts";
import { vault } from "./vaults.ts";

/** Acts that need a proof by the chain key of a shared vault's owner (encryption design §7). */
export const DELETION_ACTS = [
  "delete-vault",
  "purge-vault",
  "delete-file",
  "delete-version",
  "empty-trash",
  "shorten-retention",
] as const;
export type DeletionAct = (typeof DELETION_ACTS)[number];

/** Minutes in which a deletion challenge can be used. */
export const DELETION_MINUTES = 5;

const vaultParams = z.object({ vaultId: uuid });

export const deletionGroup = {
  challenge: endpoint({
    id: "deletion.challenge",
    method: "POST",
    path: "/api/vaults/{vaultId}/deletion-challenge",
    auth: "credential",
    access: "owner",
    /** The nonce alone permits nothing: the deletion itself still needs its own scope. */
    scope: null,
    vaultLimit: "object",
    effect: "update",
    params: vaultParams,
    body: z.strictObject({
      act: z.enum(DELETION_ACTS),
      /** The file of `delete-file` and `delete-version`; the other acts have none. */
      fileId: z.optional(uuid),
      /** The version of `delete-version`; the other acts have none. */
      versionId: z.optional(uuid),
    }),
    status: 200,
    output: z.object({ nonce: z.string(), expiresAt: timestamp }),
    errors: ["not_found", "public_vault"],
  }),
} as const;

/** Belongs to `vaults`. */
export const restoringGroup = {
  restore: endpoint({
    auth: "credential",
    access: "owner",
    scope: "vaults:write",
    id: "vaults.restore",
    method: "POST",
    path: "/api/vaults/{vaultId}/restore",
    vaultLimit: "object",
    effect: "update",
    params: vaultParams,
    /** `name`: a new name, if the item's own name is taken by now. */
    body: z.strictObject({ name: z.optional(itemName) }),
    bodyOptional: true,
    status: 200,
    output: z.object({ vault }),
    errors: ["not_found", "not_trashed", "name_exists"],
  }),
} as const;
