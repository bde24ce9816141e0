/** Vaults, people, agents and their keys, webhooks and the audit log. */
import type { Routes } from "../../declarations.ts";

const MEMBERS: Routes = {
  list: { brief: "List the members of a shared vault", load: () => import("./members/list.ts") },
  add: { brief: "Add a member to a shared vault", load: () => import("./members/add.ts") },
  remove: { brief: "Remove a member from a shared vault", load: () => import("./members/remove.ts") },
  "set-until": { brief: "Set when a member's access ends", load: () => import("./members/set-until.ts") },
};

const VAULTS: Routes = {
  create: { brief: "Create a vault", load: () => import("./vaults/create.ts") },
  list: { brief: "List vaults", load: () => import("./vaults/list.ts") },
  get: { brief: "Show a vault", load: () => import("./vaults/get.ts") },
  update: {
    brief: "Rename a vault, or set how long it keeps versions",
    load: () => import("./vaults/update.ts"),
  },
  delete: { brief: "Delete a vault", load: () => import("./vaults/delete.ts") },
  restore: { brief: "Bring a vault back from the trash", load: () => import("./vaults/restore.ts") },
  tree: { brief: "Show the folders and files of a vault as a tree", load: () => import("./vaults/tree.ts") },
  check: { brief: "Explain why a vault opens, or does not", load: () => import("./vaults/check.ts") },
  members: { brief: "Members of shared vaults", routes: MEMBERS },
  rotate: { brief: "Encrypt a shared vault again, under new keys", load: () => import("./vaults/rotate.ts") },
  reseal: { brief: "Seal the keys of a shared vault for other key servers", load: () => import("./vaults/reseal.ts") },
  trust: { brief: "Pin a shared vault to what its owner told you", load: () => import("./vaults/trust.ts") },
  "trust-owner": { brief: "Accept the new owner of a shared vault", load: () => import("./vaults/trust-owner.ts") },
  "forget-seen": {
    brief: "Forget which states of a vault this machine has seen",
    load: () => import("./vaults/forget-seen.ts"),
  },
  leave: { brief: "Leave a shared vault", load: () => import("./vaults/leave.ts") },
  offer: { brief: "Offer a shared vault to one of its members", load: () => import("./vaults/offer.ts") },
  accept: { brief: "Take over a shared vault that was offered to you", load: () => import("./vaults/accept.ts") },
  "set-signing-key": {
    brief: "Name the key that signs what you write in a shared vault",
    load: () => import("./vaults/set-signing-key.ts"),
  },
};

const INVITES: Routes = {
  create: { brief: "Create an invite for an agent", load: () => import("./invites/create.ts") },
  list: { brief: "List invites", load: () => import("./invites/list.ts") },
  revoke: { brief: "Revoke an invite", load: () => import("./invites/revoke.ts") },
};

const AGENTS: Routes = {
  list: { brief: "List agents, and let those in that wait", load: () => import("./agents/list.ts") },
  revoke: {
    brief: "End an agent's access: its key, its memberships, and what is written next",
    load: () => import("./agents/revoke.ts"),
  },
  rewind: { brief: "Undo what an agent did since a time", load: () => import("./agents/rewind.ts") },
};

const API_KEYS: Routes = {
  create: { brief: "Create an API key", load: () => import("./api-keys/create.ts") },
  list: { brief: "List API keys", load: () => import("./api-keys/list.ts") },
  revoke: { brief: "Revoke an API key", load: () => import("./api-keys/revoke.ts") },
  explain: { brief: "Name the least scopes that a command needs", load: () => import("./api-keys/explain.ts") },
  rotate: {
    brief: "Replace an API key by a new one with the same rights",
    load: () => import("./api-keys/rotate.ts"),
  },
};

const WEBHOOKS: Routes = {
  create: { brief: "Create a webhook", load: () => import("./webhooks/create.ts") },
  list: { brief: "List webhooks", load: () => import("./webhooks/list.ts") },
  get: { brief: "Show a webhook", load: () => import("./webhooks/get.ts") },
  update: { brief: "Change a webhook", load: () => import("./webhooks/update.ts") },
  delete: { brief: "Delete a webhook with its deliveries", load: () => import("./webhooks/delete.ts") },
  test: { brief: "Send a test to a webhook and wait for its answer", load: () => import("./webhooks/test.ts") },
  deliveries: { brief: "List what was sent to a webhook", load: () => import("./webhooks/deliveries.ts") },
  retry: {
    brief: "Send a delivery once more, or all failed ones of a time",
    load: () => import("./webhooks/retry.ts"),
  },
  "rotate-secret": { brief: "Replace the secret of a webhook", load: () => import("./webhooks/rotate-secret.ts") },
  listen: {
    brief: "Send the account's events to an address of this machine",
    load: () => import("./webhooks/listen.ts"),
  },
  trigger: { brief: "Send a made-up event to an address of this machine", load: () => import("./webhooks/trigger.ts") },
  verify: { brief: "Check the signature of a delivery", load: () => import("./webhooks/verify.ts") },
};

const AUDIT: Routes = {
  list: { brief: "List the acts in the account", load: () => import("./audit/list.ts") },
  verify: { brief: "Check that no entry of the log was altered", load: () => import("./audit/verify.ts") },
};

export const OWNER_ROUTES: Routes = {
  vaults: { brief: "Vaults and their members", routes: VAULTS },
  members: { brief: "Members of shared vaults", routes: MEMBERS },
  agents: { brief: "Agents of the account", routes: AGENTS },
  invites: { brief: "Invites for agents", routes: INVITES },
  "api-keys": { brief: "API keys", routes: API_KEYS },
  budgets: { brief: "Show what keys may still store, write and ask", load: () => import("./budgets.ts") },
  webhooks: { brief: "Webhooks and their deliveries", routes: WEBHOOKS },
  audit: { brief: "The log of all acts", routes: AUDIT },
};
