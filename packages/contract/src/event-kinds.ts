/**
 * The kinds of events (decisions §6). A module of its own, without schemas: code that verifies a delivery needs no
 * more. Every kind is a change of the audit log under the same word.
 */
export const EVENT_KINDS = [
  ...(["file.uploaded", "file.updated", "file.trashed", "file.restored", "file.deleted"] as const),
  ...(["folder.created", "folder.updated", "folder.trashed", "folder.restored"] as const),
  ...(["folder.deleted"] as const),
  ...(["vault.created", "vault.updated", "vault.trashed", "vault.restored", "vault.deleted"] as const),
  ...(["vault.member_added", "vault.member_removed", "vault.member_ended"] as const),
  ...(["api_key.created", "api_key.revoked"] as const),
  ...(["invite.created", "invite.redeemed", "invite.revoked"] as const),
  ...(["account.email_verified", "account.plan_changed", "webhook.test"] as const),
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** Subscribes to every kind, those of later versions included. */
export const EVERY_EVENT = "*";

export function isEventKind(text: string): text is EventKind {
  return (EVENT_KINDS as readonly string[]).includes(text);
}

/** Whether an endpoint that subscribed to `kinds` gets events of `kind`. */
export function isSubscribed(kinds: readonly string[], kind: string): boolean {
  return kinds.includes(kind) || kinds.includes(EVERY_EVENT);
}
