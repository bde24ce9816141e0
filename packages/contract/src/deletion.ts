/** What comes before a deletion of something in a shared vault, and after one of a vault. */
import * as z from "zod/mini";
import { object, strictObject } from "./object.ts";
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

const vaultParams = object({
  /** UUID of the vault. */
  vaultId: uuid,
});

export const deletionGroup = {
  /** A nonce to sign before something of a shared vault is deleted: 5 minutes, single use, for this act, object and credential. */
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
    body: strictObject({
      /** What you want to do: `delete-vault`, `purge-vault`, `delete-file`, `delete-version`, `empty-trash` or `shorten-retention`. */
      act: z.enum(DELETION_ACTS),
      /** UUID of the file, for `delete-file` and `delete-version`. Default: none, for the other acts. */
      fileId: z.optional(uuid),
      /** UUID of the version, for `delete-version`. Default: none, for the other acts. */
      versionId: z.optional(uuid),
    }),
    status: 200,
    output: object({
      /** Text to sign once. It ends at `expiresAt`. */
      nonce: z.string(),
      /** When the nonce ends: RFC 3339 in UTC, 5 minutes after it was made. */
      expiresAt: timestamp,
    }),
    errors: ["not_found", "public_vault"],
  }),
} as const;

/** Belongs to `vaults`. */
export const restoringGroup = {
  /** Bring a vault back from the trash with all that is in it. */
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
    body: strictObject({
      /** Another name, if the old one is taken. Default: the old name. */
      name: z.optional(itemName),
    }),
    bodyOptional: true,
    status: 200,
    output: object({
      /** The vault as it is now. */
      vault,
    }),
    errors: ["not_found", "not_trashed", "name_exists"],
  }),
} as const;
