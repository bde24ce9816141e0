/**
 * Which endpoints each command calls. Scopes come from the contract. test/cli/owner-scopes.test.ts runs commands with
 * keys that have these scopes and no others.
 */

const KEYS = "apiKeys.list apiKeys.get";
const READING = "vaults.list vaults.get files.list files.get folders.list";
const SENDING = "files.upload files.update folders.create";
const MEMBERS = "vaults.list vaults.get members.list members.add members.remove";

/** Ids of endpoints, with spaces between them. A place that leads to several commands counts for all of them. */
export const CALLS: Readonly<Record<string, string>> = {
  "account show": "account.get",
  "account link-chain": "account.get account.linkChainChallenge account.linkChain",
  "account update": "account.update",
  "agents list": `${KEYS} invites.list vaults.list members.list members.add`,
  "agents revoke": `${KEYS} apiKeys.revoke ${MEMBERS}`,
  "agents rewind": `account.get ${KEYS} changes.list ${READING} ${SENDING} files.delete files.restore files.versions files.restoreVersion files.entries folders.delete folders.restore folders.update`,
  "api-keys create": "apiKeys.create vaults.list vaults.get",
  "api-keys list": "apiKeys.list",
  "api-keys revoke": `${KEYS} apiKeys.revoke`,
  "api-keys rotate": `${KEYS} apiKeys.rotate`,
  "audit list": "audit.list",
  "audit verify": "audit.list account.get",
  "billing show": "billing.get",
  "billing checkout": "billing.checkout",
  "billing plan": "billing.changePlan",
  budgets: "account.get apiKeys.list",
  download: `${READING} files.content`,
  "invites create": "invites.create vaults.list vaults.get",
  "invites list": "invites.list",
  "invites revoke": "invites.list invites.revoke",
  ls: READING,
  "members add": `${MEMBERS} apiKeys.list invites.list`,
  "members list": "vaults.list vaults.get members.list",
  "members remove": MEMBERS,
  "members set-until": MEMBERS,
  upload: `${READING} ${SENDING} files.replace`,
  "vaults check": "vaults.list vaults.get",
  "vaults create": "account.get vaults.create",
  "vaults delete": "vaults.list vaults.get vaults.delete",
  "vaults get": "vaults.list vaults.get",
  "vaults list": "vaults.list",
  "vaults restore": "trash.list vaults.restore",
  "vaults tree": READING,
  "vaults update": "vaults.list vaults.get vaults.update",
  "webhooks create": "webhooks.create",
  "webhooks delete": "webhooks.list webhooks.get webhooks.delete",
  "webhooks deliveries": "webhooks.list webhooks.get webhooks.deliveries webhooks.delivery",
  "webhooks get": "webhooks.list webhooks.get",
  "webhooks list": "webhooks.list",
  "webhooks listen": "events.stream",
  "webhooks retry": "webhooks.list webhooks.get webhooks.redeliver webhooks.recover",
  "webhooks rotate-secret": "webhooks.list webhooks.get webhooks.rotateSecret",
  "webhooks test": "webhooks.list webhooks.get webhooks.test",
  "webhooks trigger": "webhookEvents.list",
  "webhooks update": "webhooks.list webhooks.get webhooks.update",
  whoami: "account.get",
};
