import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { file } from "./files.ts";
import { ownerProof } from "./proofs.ts";
import { pageQuery, uuid } from "./values.ts";
import { OWNER_PROOF_ERRORS, vault } from "./vaults.ts";

export const TRASH_DAYS = 30;

/** The queries of the trash. */
export const TRASH_KINDS = ["files", "vaults"] as const;

export const trashGroup = {
  list: endpoint({
    id: "trash.list",
    method: "GET",
    path: "/api/trash",
    auth: "credential",
    access: "agent",
    scope: "files:read",
    vaultLimit: "filter",
    effect: "read",
    query: z.strictObject({
      ...pageQuery,
      vaultId: z.optional(uuid),
      /** The default is `files`: the files in the trash of live vaults. `vaults`: the vaults in the trash. */
      kind: z.optional(z.enum(TRASH_KINDS)),
    }),
    status: 200,
    /** One of the two is empty, by `kind`. */
    output: z.object({ files: z.array(file), vaults: z.array(vault), nextCursor: z.nullable(z.string()) }),
    errors: ["not_found", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
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
    query: z.strictObject({ vaultId: z.optional(uuid) }),
    headers: z.object({ "coffer-proof": z.optional(ownerProof) }),
    status: 200,
    /** The shared vaults whose trash this call left alone. Empty each by its id, with its owner's proof. */
    output: z.object({ leftVaults: z.array(z.object({ id: uuid, name: z.string() })) }),
    errors: ["not_found", ...OWNER_PROOF_ERRORS],
  }),
} as const;
