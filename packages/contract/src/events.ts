/**
 * Events of an account (specification §6, decisions §6). Payloads are thin: ids, sizes and times, never names,
 * contents, keys or tokens. The kinds are in event-kinds.ts.
 */
import * as z from "zod/mini";
import { eventActor } from "./changes.ts";
import { object, type Named, type Parsed } from "./object.ts";
import type { EventKind } from "./event-kinds.ts";
import { chainAddress, openEnum, timestamp, uuid } from "./values.ts";

const item = {
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
};
const vaultOf = {
  /** UUID of the vault. */
  vaultId: uuid,
};
const file = {
  /** Kind of the object. */
  type: z.literal("file"),
  ...item,
  ...vaultOf,
  /** UUID of the folder. null: the top of the vault. */
  folderId: z.nullable(uuid),
  /** UUID of the content. Every new content gets a new one. */
  versionId: uuid,
  /** Stored bytes, after encryption. */
  size: z.int(),
  /** Whether the stored bytes are encrypted by the client. */
  encrypted: z.boolean(),
};
const folder = {
  /** Kind of the object. */
  type: z.literal("folder"),
  ...item,
  ...vaultOf,
  /** UUID of the folder that holds it. null: the top of the vault. */
  parentId: z.nullable(uuid),
};
const vault = {
  /** Kind of the object. */
  type: z.literal("vault"),
  ...item,
  /** `public` or `shared`. */
  vaultType: openEnum(["public", "shared"]),
};
const member = {
  /** Kind of the object. */
  type: z.literal("vault_member"),
  /** Sui address of the member: `0x` and 64 lower-case hex digits. */
  id: chainAddress,
  ...vaultOf,
};
const apiKey = {
  /** Kind of the object. */
  type: z.literal("api_key"),
  ...item,
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  chainAddress: z.nullable(chainAddress),
};
const invite = {
  /** Kind of the object. */
  type: z.literal("invite"),
  ...item,
};
const account = {
  /** Kind of the object. */
  type: z.literal("account"),
  ...item,
};

const fileSchema = object(file);

/** The file of an event. */
export interface FileEventObject extends Parsed<typeof fileSchema> {}

const folderSchema = object(folder);

/** The folder of an event. */
export interface FolderEventObject extends Parsed<typeof folderSchema> {}

const vaultSchema = object(vault);

/** The vault of an event. */
export interface VaultEventObject extends Parsed<typeof vaultSchema> {}

const memberSchema = object(member);

/** The member of an event. */
export interface MemberEventObject extends Parsed<typeof memberSchema> {}

const endedMemberSchema = object({
  ...member,
  /** When access ends or ended by itself: RFC 3339 in UTC. */
  endsAt: timestamp,
});

/** The member whose access ended. */
export interface EndedMemberEventObject extends Parsed<typeof endedMemberSchema> {}

const apiKeySchema = object(apiKey);

/** The API key of an event. */
export interface ApiKeyEventObject extends Parsed<typeof apiKeySchema> {}

const inviteSchema = object(invite);

/** The invite of an event. */
export interface InviteEventObject extends Parsed<typeof inviteSchema> {}

const redeemedInviteSchema = object({
  ...invite,
  /** UUID of the API key that redeeming made. */
  keyId: uuid,
  /** Sui address of the key: `0x` and 64 lower-case hex digits. */
  chainAddress,
});

/** The invite that was redeemed. */
export interface RedeemedInviteEventObject extends Parsed<typeof redeemedInviteSchema> {}

const accountSchema = object(account);

/** The account of an event. */
export interface AccountEventObject extends Parsed<typeof accountSchema> {}

const planSchema = object({
  ...account,
  /** `free` or `pro`. It sets the limits of the account. */
  plan: openEnum(["free", "pro"]),
});

/** The account whose plan changed. */
export interface PlanEventObject extends Parsed<typeof planSchema> {}

const webhookSchema = object({
  /** Kind of the object. */
  type: z.literal("webhook"),
  ...item,
});

/** The endpoint that was tested. */
export interface WebhookEventObject extends Parsed<typeof webhookSchema> {}

/** What the event of each kind is about. */
export interface EventObjects {
  readonly "file.uploaded": FileEventObject;
  readonly "file.updated": FileEventObject;
  readonly "file.trashed": FileEventObject;
  readonly "file.restored": FileEventObject;
  readonly "file.deleted": FileEventObject;
  readonly "folder.created": FolderEventObject;
  readonly "folder.updated": FolderEventObject;
  readonly "folder.trashed": FolderEventObject;
  readonly "folder.restored": FolderEventObject;
  readonly "folder.deleted": FolderEventObject;
  readonly "vault.created": VaultEventObject;
  readonly "vault.updated": VaultEventObject;
  readonly "vault.trashed": VaultEventObject;
  readonly "vault.restored": VaultEventObject;
  readonly "vault.deleted": VaultEventObject;
  readonly "vault.member_added": MemberEventObject;
  readonly "vault.member_removed": MemberEventObject;
  readonly "vault.member_ended": EndedMemberEventObject;
  readonly "api_key.created": ApiKeyEventObject;
  readonly "api_key.revoked": ApiKeyEventObject;
  readonly "invite.created": InviteEventObject;
  readonly "invite.redeemed": RedeemedInviteEventObject;
  readonly "invite.revoked": InviteEventObject;
  readonly "account.email_verified": AccountEventObject;
  readonly "account.plan_changed": PlanEventObject;
  readonly "webhook.test": WebhookEventObject;
}

const OBJECTS: { readonly [Kind in EventKind]: Named<EventObjects[Kind]> } = {
  "file.uploaded": fileSchema,
  "file.updated": fileSchema,
  "file.trashed": fileSchema,
  "file.restored": fileSchema,
  "file.deleted": fileSchema,
  "folder.created": folderSchema,
  "folder.updated": folderSchema,
  "folder.trashed": folderSchema,
  "folder.restored": folderSchema,
  "folder.deleted": folderSchema,
  "vault.created": vaultSchema,
  "vault.updated": vaultSchema,
  "vault.trashed": vaultSchema,
  "vault.restored": vaultSchema,
  "vault.deleted": vaultSchema,
  "vault.member_added": memberSchema,
  "vault.member_removed": memberSchema,
  "vault.member_ended": endedMemberSchema,
  "api_key.created": apiKeySchema,
  "api_key.revoked": apiKeySchema,
  "invite.created": inviteSchema,
  "invite.redeemed": redeemedInviteSchema,
  "invite.revoked": inviteSchema,
  "account.email_verified": accountSchema,
  "account.plan_changed": planSchema,
  "webhook.test": webhookSchema,
};

function eventOf<Kind extends EventKind>(kind: Kind) {
  return object({
    /** Kind of the event: narrow on it. */
    type: z.literal(kind),
    /** When it happened: RFC 3339 in UTC, with milliseconds. */
    timestamp,
    /** What happened. */
    data: object({
      /** UUID of the account. */
      accountId: uuid,
      /** Number of the change in the account. Later changes have higher numbers. 0: a test. */
      sequence: z.int(),
      /** The actor. */
      actor: eventActor,
      /** What it was done to. */
      object: OBJECTS[kind],
    }),
  });
}

/** The schema of one kind's payload. */
export function eventSchema<Kind extends EventKind>(kind: Kind): ReturnType<typeof eventOf<Kind>> {
  return eventOf(kind);
}

/** A delivered event: narrow on `type`. */
export type WebhookEvent = { [Kind in EventKind]: z.infer<ReturnType<typeof eventOf<Kind>>> }[EventKind];

export type EventObject<Kind extends EventKind = EventKind> = EventObjects[Kind];
