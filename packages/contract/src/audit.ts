/** The audit log: every change of an account, each entry chained to the one before it (decisions §1, §4). */
import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { chainAddress, openEnum, pageOf, pageQuery, sha256Hex, timestamp, uuid } from "./values.ts";

/** Days an entry is kept (decisions §4). */
export const AUDIT_DAYS = 365;

export const auditEvent = z.object({
  id: uuid,
  /** The action, such as `api_key.created`. */
  action: z.string(),
  occurredAt: timestamp,
  actor: z.object({
    type: openEnum(["api-key", "session", "development", "invite", "operator", "system"]),
    /** The id of the key, session or invite; null where there is none. */
    id: z.nullable(uuid),
    accessLevel: z.nullable(openEnum(["owner", "agent"])),
    chainAddress: z.nullable(chainAddress),
  }),
  targets: z.array(z.object({ type: z.string(), id: z.string(), vaultId: z.optional(uuid) })),
  context: z.object({
    requestId: z.nullable(z.string()),
    /** The client's network address as the service saw it. */
    location: z.nullable(z.string()),
    userAgent: z.nullable(z.string()),
  }),
  /** Place in the account's chain: 1, 2, 3 … without gaps. */
  sequence: z.int(),
  /** `hash` of the entry before this one; 64 zeros for the first. */
  previousHash: sha256Hex,
  /** SHA-256 of `renderAuditText` in hex. */
  hash: sha256Hex,
});

export interface AuditEvent extends z.infer<typeof auditEvent> {}

export const auditGroup = {
  list: endpoint({
    id: "audit.list",
    method: "GET",
    path: "/api/audit-log",
    auth: "credential",
    access: "owner",
    scope: "audit:read",
    vaultLimit: "refuse",
    effect: "read",
    query: z.strictObject({
      ...pageQuery,
      /** Only entries with this action, or whose action begins with it and a dot: `api_key` or `api_key.created`. */
      action: z.optional(z.string().check(z.maxLength(64), z.regex(/^[a-z_]+(\.[a-z_]+)?$/))),
    }),
    status: 200,
    output: pageOf("events", auditEvent),
    errors: [],
  }),
} as const;
