/** The change feed (decision 0052): the rows of the audit log in their order, thin. Clients load it when they need it. */
import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { chainAddress, integerText, keyOrAddress, openEnum, pageOf, pageQuery, timestamp, uuid } from "./values.ts";

/** Seconds that a request may wait for a change. */
export const MAX_WAIT = 50;

/** The rights on all that shows changes as they happen: an agent sees what lies in its vaults. */
export const following = {
  auth: "credential",
  access: "agent",
  scope: "events:read",
  agentScope: "files:read",
  vaultLimit: "filter",
} as const;

export const change = z.object({
  /** The number of the change in its account: later changes have higher numbers. */
  sequence: z.int(),
  id: uuid,
  /** The action, such as `file.uploaded`. */
  kind: z.string(),
  occurredAt: timestamp,
  actor: z.object({
    type: openEnum(["api-key", "session", "development", "invite", "operator", "system"]),
    /** null: there is none, or it is another account's. */
    id: z.nullable(uuid),
    chainAddress: z.nullable(chainAddress),
  }),
  object: z.object({
    type: z.string(),
    id: z.string(),
    vaultId: z.nullable(uuid),
    /** The folder that it was in after the change. null: none, or it is neither a file nor a folder. */
    folderId: z.nullable(uuid),
    /** The content of a file after the change. */
    versionId: z.nullable(uuid),
    size: z.nullable(z.int()),
  }),
});

export interface Change extends z.infer<typeof change> {}

export const changesGroup = {
  list: endpoint({
    ...following,
    id: "changes.list",
    method: "GET",
    path: "/api/changes",
    effect: "read",
    query: z.strictObject({
      ...pageQuery,
      after: z.optional(integerText(0, Number.MAX_SAFE_INTEGER)),
      since: z.optional(timestamp),
      until: z.optional(timestamp),
      by: z.optional(keyOrAddress),
      vaultId: z.optional(uuid),
      folderId: z.optional(uuid),
      kind: z.optional(z.string().check(z.maxLength(64), z.regex(/^[a-z_]+(\.[a-z_]+)?$/))),
      wait: z.optional(integerText(0, MAX_WAIT)),
    }),
    status: 200,
    output: pageOf("changes", change),
    errors: ["not_found", "cursor_expired", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
} as const;
