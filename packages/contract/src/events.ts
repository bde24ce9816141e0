/**
 * Events of an account (specification §6, decisions §6). Payloads are thin: ids, sizes and times, never names,
 * contents, keys or tokens. The kinds are in event-kinds.ts.
 */
import * as z from "zod/mini";
import type { EventKind } from "./event-kinds.ts";
import { chainAddress, openEnum, timestamp, uuid } from "./values.ts";

const vaultOf = { vaultId: uuid };
const file = {
  type: z.literal("file"),
  id: uuid,
  ...vaultOf,
  folderId: z.nullable(uuid),
  versionId: uuid,
  /** Bytes of the stored content. */
  size: z.int(),
  encrypted: z.boolean(),
};
const folder = { type: z.literal("folder"), id: uuid, ...vaultOf, parentId: z.nullable(uuid) };
const vault = { type: z.literal("vault"), id: uuid, vaultType: openEnum(["public", "shared"]) };
const member = { type: z.literal("vault_member"), id: chainAddress, ...vaultOf };
const apiKey = { type: z.literal("api_key"), id: uuid, chainAddress: z.nullable(chainAddress) };
const invite = { type: z.literal("invite"), id: uuid };
const account = { type: z.literal("account"), id: uuid };

/** The object that an event is about, by kind. */
const OBJECTS = {
  "file.uploaded": z.object(file),
  "file.updated": z.object(file),
  "file.trashed": z.object(file),
  "file.restored": z.object(file),
  "file.deleted": z.object(file),
  "folder.created": z.object(folder),
  "folder.updated": z.object(folder),
  "folder.trashed": z.object(folder),
  "folder.restored": z.object(folder),
  "folder.deleted": z.object(folder),
  "vault.created": z.object(vault),
  "vault.updated": z.object(vault),
  "vault.trashed": z.object(vault),
  "vault.restored": z.object(vault),
  "vault.deleted": z.object(vault),
  "vault.member_added": z.object(member),
  "vault.member_removed": z.object(member),
  "vault.member_ended": z.object({ ...member, endsAt: timestamp }),
  "api_key.created": z.object(apiKey),
  "api_key.revoked": z.object(apiKey),
  "invite.created": z.object(invite),
  "invite.redeemed": z.object({ ...invite, keyId: uuid, chainAddress }),
  "invite.revoked": z.object(invite),
  "account.email_verified": z.object(account),
  "account.plan_changed": z.object({ ...account, plan: openEnum(["free", "pro"]) }),
  "webhook.test": z.object({ type: z.literal("webhook"), id: uuid }),
} as const satisfies Record<EventKind, z.core.$ZodType>;

/** The actor. */
const actor = z.object({
  type: openEnum(["api-key", "session", "development", "invite", "operator", "system"]),
  id: z.nullable(uuid),
  chainAddress: z.nullable(chainAddress),
});

function eventOf<Kind extends EventKind>(kind: Kind) {
  return z.object({
    type: z.literal(kind),
    timestamp,
    data: z.object({
      accountId: uuid,
      /**
       * The number of the change in its account: later changes have higher numbers; 0 for a test. Deliveries may
       * overtake each other.
       */
      sequence: z.int(),
      actor,
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

export type EventObject<Kind extends EventKind = EventKind> = z.infer<(typeof OBJECTS)[Kind]>;
