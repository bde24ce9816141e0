/** The change feed (decision 0052): the rows of the audit log in their order, thin. */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { chainAddress, integerText, keyOrAddress, openEnum, pageQuery, timestamp, uuid } from "./values.ts";

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

const actorSchema = object({
  /** `api-key`, `session`, `development`, `invite`, `operator` or `system`. */
  type: openEnum(["api-key", "session", "development", "invite", "operator", "system"]),
  /** UUID of the key, session or invite. null: the actor has none. */
  id: z.nullable(uuid),
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  chainAddress: z.nullable(chainAddress),
});

/** The actor of an event. */
export interface EventActor extends Parsed<typeof actorSchema> {}

export const eventActor: Named<EventActor> = actorSchema;

const changedObjectSchema = object({
  /** Kind of the object, such as `file` or `vault`. */
  type: z.string(),
  /** Identifier: a UUID in lower case. It never changes. */
  id: z.string(),
  /** UUID of its vault. null: it belongs to none. */
  vaultId: z.nullable(uuid),
  /** UUID of the folder that it was in after the change. null: it was in none. */
  folderId: z.nullable(uuid),
  /** Content of the file after the change. null: it is no file. */
  versionId: z.nullable(uuid),
  /** Bytes of that content. null: it is no file. */
  size: z.nullable(z.int()),
});

/** What a change is about. */
export interface ChangeObject extends Parsed<typeof changedObjectSchema> {}

const changedObject: Named<ChangeObject> = changedObjectSchema;

const changeSchema = object({
  /** Number of the change in the account. Later changes have higher numbers. 0: a test. */
  sequence: z.int(),
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** The action, such as `file.uploaded`. */
  kind: z.string(),
  /** When it was done: RFC 3339 in UTC. */
  occurredAt: timestamp,
  /** The actor. */
  actor: eventActor,
  /** The object of the change, as ids. */
  object: changedObject,
});

/** A change of an account, as ids. */
export interface Change extends Parsed<typeof changeSchema> {}

export const change: Named<Change> = changeSchema;

export const changesGroup = {
  /** The change feed, oldest first: pages of it, or a request that waits for the next change. */
  list: endpoint({
    ...following,
    id: "changes.list",
    method: "GET",
    path: "/api/changes",
    effect: "read",
    query: strictObject({
      ...pageQuery,
      /** Begins after this sequence number. Default: with the oldest change that is kept. */
      after: z.optional(integerText(0, Number.MAX_SAFE_INTEGER)),
      /** Lists only changes from this time on: RFC 3339 in UTC. Default: from the beginning. */
      since: z.optional(timestamp),
      /** Lists only changes up to this time: RFC 3339 in UTC. Default: to the end. */
      until: z.optional(timestamp),
      /** Lists only changes by this actor: the UUID of a key or session, or a chain address. Default: every actor. */
      by: z.optional(keyOrAddress),
      /** Lists only changes in this vault. Members of another account need it. Default: every vault. */
      vaultId: z.optional(uuid),
      /** Lists only changes of what lies in this folder. Default: every folder. */
      folderId: z.optional(uuid),
      /** Lists only this kind or group, such as `file.uploaded` or `file`. Default: every kind. */
      kind: z.optional(z.string().check(z.maxLength(64), z.regex(/^[a-z_]+(\.[a-z_]+)?$/))),
      /** Seconds to wait for a change where there is none yet, 0 to 50. Default: the list ends with null as cursor. */
      wait: z.optional(integerText(0, MAX_WAIT)),
    }),
    status: 200,
    output: object({
      /** Changes, oldest first. A page may be empty and still have a next one. */
      changes: z.array(change),
      /** Pass it as `cursor` to go on. null: these were the last ones. With `wait` it is never null. */
      nextCursor: z.nullable(z.string()),
    }),
    errors: ["not_found", "cursor_expired", "not_a_member", "membership_ended", "chain_unavailable"],
  }),
} as const;
