import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { file } from "./files.ts";
import { pageOf, pageQuery, uuid } from "./values.ts";

export const TRASH_DAYS = 30;

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
    query: z.strictObject({ ...pageQuery, vaultId: z.optional(uuid) }),
    status: 200,
    output: pageOf("files", file),
    errors: ["not_found", "not_a_member", "chain_unavailable"],
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
    query: z.strictObject({ vaultId: z.optional(uuid) }),
    status: 204,
    errors: ["not_found"],
  }),
} as const;
