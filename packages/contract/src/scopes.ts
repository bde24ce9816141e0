/** Scopes that restrict an API key (specification §2.4, decisions §4). Absent scopes: all the access level allows. */
export const SCOPES = [
  "files:read",
  "files:write",
  "folders:read",
  "folders:write",
  "vaults:read",
  "vaults:write",
  "members:read",
  "members:write",
  "account:write",
  "webhooks:read",
  "webhooks:write",
  "api-keys:read",
  "api-keys:write",
  "invites:read",
  "invites:write",
  "audit:read",
  "events:read",
  "billing:write",
] as const;

export type Scope = (typeof SCOPES)[number];

/** `agent`: a key whose chain address differs from the account owner's (specification §2.6). */
export type AccessLevel = "owner" | "agent";

/** Scopes an agent can ever use (specification §5.9); the others are owner-only. */
export const AGENT_SCOPES: readonly Scope[] = [
  "files:read",
  "files:write",
  "folders:read",
  "folders:write",
  "vaults:read",
  "members:read",
];
