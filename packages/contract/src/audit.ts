/** The audit log: every change of an account, each entry chained to the one before it (decisions §1, §4). */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { chainAddress, openEnum, nextPage, pageQuery, sha256Hex, timestamp, uuid } from "./values.ts";

/** Days an entry is kept (decisions §4). */
export const AUDIT_DAYS = 365;

const actorSchema = object({
  /** `api-key`, `session`, `development`, `invite`, `operator` or `system`. */
  type: openEnum(["api-key", "session", "development", "invite", "operator", "system"]),
  /** UUID of the key, session or invite. null: the actor has none. */
  id: z.nullable(uuid),
  /** `owner` or `agent`. null: the actor used no credential of the account. */
  accessLevel: z.nullable(openEnum(["owner", "agent"])),
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  chainAddress: z.nullable(chainAddress),
});

/** The actor of an audit entry. */
export interface AuditActor extends Parsed<typeof actorSchema> {}

const actor: Named<AuditActor> = actorSchema;

const targetSchema = object({
  /** Kind of the target, such as `file` or `vault`. */
  type: z.string(),
  /** Identifier of the target. */
  id: z.string(),
  /** UUID of the vault. */
  vaultId: z.optional(uuid),
});

/** What an audit entry is about. */
export interface AuditTarget extends Parsed<typeof targetSchema> {}

const target: Named<AuditTarget> = targetSchema;

const contextSchema = object({
  /** The X-Request-Id of the answer. null: no request did it. */
  requestId: z.nullable(z.string()),
  /** Network address of the client as the service saw it. null: unknown. */
  location: z.nullable(z.string()),
  /** What the client called itself, at most 200 characters. Do not trust it. null: nothing was sent. */
  userAgent: z.nullable(z.string()),
});

/** The request behind an audit entry. */
export interface AuditContext extends Parsed<typeof contextSchema> {}

const context: Named<AuditContext> = contextSchema;

const auditEventSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** The action, such as `api_key.created`. */
  action: z.string(),
  /** When it was done: RFC 3339 in UTC. */
  occurredAt: timestamp,
  /** The actor. */
  actor: actor,
  /** The objects of the action. */
  targets: z.array(target),
  /** The request that did it. */
  context: context,
  /** Place of the entry in the account's chain: 1, 2, 3 … without gaps. */
  sequence: z.int(),
  /** Hash of the entry before: 64 hex digits. 64 zeros: this is the first. */
  previousHash: sha256Hex,
  /** SHA-256 of this entry's text, which includes the previous hash: 64 lower-case hex digits. */
  hash: sha256Hex,
});

/** An entry of the audit log, chained to the one before it. */
export interface AuditEvent extends Parsed<typeof auditEventSchema> {}

export const auditEvent: Named<AuditEvent> = auditEventSchema;

export const auditGroup = {
  /** The audit log, newest first. */
  list: endpoint({
    id: "audit.list",
    method: "GET",
    path: "/api/audit-log",
    auth: "credential",
    access: "owner",
    scope: "audit:read",
    vaultLimit: "refuse",
    effect: "read",
    query: strictObject({
      ...pageQuery,
      /** Lists only this action or group, such as `api_key.created` or `api_key`. Default: every action. */
      action: z.optional(z.string().check(z.maxLength(64), z.regex(/^[a-z_]+(\.[a-z_]+)?$/))),
    }),
    status: 200,
    output: object({
      /** Entries, newest first. Each is kept for 365 days. */
      events: z.array(auditEvent),
      ...nextPage,
    }),
    errors: [],
  }),
} as const;
