/**
 * The contract's permission data against the specification's table, transcribed by hand: loosening an access level or a
 * scope on an endpoint turns this red until the table is changed too.
 */
import { AGENT_SCOPES, api, endpointsOf, scopeOf, type EndpointDefinition } from "@coffer/contract";
import { describe, expect, it } from "vitest";

/** Specification §5.9, line by line, with what decisions §4 adds: operation, owner, agent, its endpoints. */
const TABLE: readonly (readonly [operation: string, agent: "agent" | "owner only", endpoints: readonly string[]])[] = [
  [
    "Upload, download, list files",
    "agent",
    [
      "files.upload",
      "files.replace",
      "files.content",
      "files.contentHead",
      "files.list",
      "files.get",
      "files.update",
      "files.moveMany",
    ],
  ],
  ["Upload many (decisions §5)", "agent", ["files.batch"]],
  ["Change several files at once (decisions §5)", "agent", ["files.commit"]],
  ["Upload in parts", "agent", ["uploads.create", "uploads.head", "uploads.append", "uploads.terminate"]],
  [
    "Create, list, manage folders",
    "agent",
    ["folders.create", "folders.list", "folders.get", "folders.update", "folders.delete"],
  ],
  ["List vaults and vault details", "agent", ["vaults.list", "vaults.get"]],
  ["Soft-delete files (trash)", "agent", ["files.delete", "files.trashMany", "trash.list"]],
  ["Restore from trash (decisions §4)", "agent", ["files.restore", "files.restoreMany", "folders.restore"]],
  ["Permanent delete (decisions §4, §5)", "owner only", ["trash.empty", "files.deleteVersion"]],
  ["Search (decisions §5)", "agent", ["files.search"]],
  ["Versions of files (decisions §5)", "agent", ["files.versions", "files.restoreVersion"]],
  ["Names and places before (decision 0051)", "agent", ["files.entries", "folders.entries"]],
  [
    "Create, update, delete vaults",
    "owner only",
    ["vaults.create", "vaults.update", "vaults.delete", "vaults.restore"],
  ],
  [
    "What the owner signs before something of a shared vault goes (decision 0030)",
    "owner only",
    ["deletion.challenge"],
  ],
  ["Member list (decisions §4)", "agent", ["members.list"]],
  ["Member changes (decisions §4)", "owner only", ["members.add", "members.remove"]],
  ["Taking over a vault that the chain gives to the account (decision 0021)", "owner only", ["ownership.claim"]],
  [
    "Keys and names of shared vaults, for those on the allowlist (decisions §5)",
    "agent",
    ["vaultKeys.list", "vaultKeys.publish", "vaultKeys.steps", "folderNames.get", "folderNames.stage"],
  ],
  ["Create, revoke API keys", "owner only", ["apiKeys.create", "apiKeys.revoke", "apiKeys.rotate"]],
  ["Key list (decisions §4)", "owner only", ["apiKeys.list", "apiKeys.get"]],
  ["Account info (specification §4.3)", "agent", ["account.get"]],
  ["Account settings", "owner only", ["account.update", "auth.changePassword"]],
  ["Billing and plan changes", "owner only", ["billing.get", "billing.checkout", "billing.changePlan"]],
  ["Invites (decisions §4)", "owner only", ["invites.create", "invites.list", "invites.revoke"]],
  ["Audit log (decisions §4)", "owner only", ["audit.list"]],
  [
    "Manage webhooks",
    "owner only",
    [
      ...["webhooks.list", "webhooks.create", "webhooks.get", "webhooks.update", "webhooks.delete", "webhooks.test"],
      ...["webhooks.rotateSecret", "webhooks.deliveries", "webhooks.delivery", "webhooks.redeliver"],
      ...["webhooks.recover", "webhookEvents.list"],
    ],
  ],
  ["Event feed and change list (decisions §6)", "agent", ["events.stream", "changes.list"]],
  ["Link-chain (decisions §4)", "owner only", ["account.linkChainChallenge", "account.linkChain"]],
  ["Sessions (decisions §4)", "owner only", ["sessions.list", "sessions.end"]],
];

/** Decisions §4, "Scopes", and how a key limited to vaults meets the endpoint. */
const RIGHTS: Readonly<Record<string, readonly [scope: string | null, vaultLimit: string]>> = {
  "account.get": [null, "none"],
  "account.update": ["account:write", "none"],
  "account.linkChainChallenge": ["account:write", "refuse"],
  "account.linkChain": ["account:write", "refuse"],
  "auth.changePassword": ["account:write", "refuse"],
  "sessions.list": ["account:write", "refuse"],
  "sessions.end": ["account:write", "refuse"],
  "apiKeys.create": ["api-keys:write", "none"],
  "apiKeys.list": ["api-keys:read", "filter"],
  "apiKeys.get": ["api-keys:read", "object"],
  "apiKeys.revoke": ["api-keys:write", "object"],
  "apiKeys.rotate": ["api-keys:write", "object"],
  "invites.create": ["invites:write", "none"],
  "invites.list": ["invites:read", "filter"],
  "invites.revoke": ["invites:write", "object"],
  "vaults.create": ["vaults:write", "refuse"],
  "vaults.list": [null, "filter"],
  "vaults.get": [null, "object"],
  "vaults.update": ["vaults:write", "object"],
  "vaults.delete": ["vaults:write", "object"],
  "vaults.restore": ["vaults:write", "object"],
  "deletion.challenge": [null, "object"],
  "members.list": ["members:read", "object"],
  "members.add": ["members:write", "object"],
  "members.remove": ["members:write", "object"],
  "ownership.claim": ["vaults:write", "refuse"],
  "vaultKeys.list": [null, "object"],
  "vaultKeys.publish": ["files:write", "object"],
  "vaultKeys.steps": [null, "object"],
  "folderNames.get": ["files:read", "object"],
  "folderNames.stage": ["files:write", "object"],
  "folders.create": ["folders:write", "object"],
  "folders.list": ["folders:read", "filter"],
  "folders.get": ["folders:read", "object"],
  "folders.update": ["folders:write", "object"],
  "folders.delete": ["folders:write", "object"],
  "folders.restore": ["folders:write", "object"],
  "folders.entries": ["folders:read", "object"],
  "files.upload": ["files:write", "object"],
  "files.batch": ["files:write", "object"],
  "files.list": ["files:read", "filter"],
  "files.get": ["files:read", "object"],
  "files.content": ["files:read", "object"],
  "files.contentHead": ["files:read", "object"],
  "files.replace": ["files:write", "object"],
  "files.update": ["files:write", "object"],
  "files.delete": ["files:write", "object"],
  "files.restore": ["files:write", "object"],
  "files.search": ["files:read", "filter"],
  "files.versions": ["files:read", "object"],
  "files.entries": ["files:read", "object"],
  "files.commit": ["files:write", "object"],
  "files.trashMany": ["files:write", "object"],
  "files.restoreMany": ["files:write", "object"],
  "files.moveMany": ["files:write", "object"],
  "files.restoreVersion": ["files:write", "object"],
  "files.deleteVersion": ["files:write", "object"],
  "uploads.create": ["files:write", "object"],
  "uploads.head": ["files:write", "object"],
  "uploads.append": ["files:write", "object"],
  "uploads.terminate": ["files:write", "object"],
  "trash.list": ["files:read", "filter"],
  "trash.empty": ["files:write", "filter"],
  "billing.get": ["billing:write", "refuse"],
  "billing.checkout": ["billing:write", "refuse"],
  "billing.changePlan": ["billing:write", "refuse"],
  "audit.list": ["audit:read", "refuse"],
  "webhooks.list": ["webhooks:read", "refuse"],
  "webhooks.create": ["webhooks:write", "refuse"],
  "webhooks.get": ["webhooks:read", "refuse"],
  "webhooks.update": ["webhooks:write", "refuse"],
  "webhooks.delete": ["webhooks:write", "refuse"],
  "webhooks.test": ["webhooks:write", "refuse"],
  "webhooks.rotateSecret": ["webhooks:write", "refuse"],
  "webhooks.deliveries": ["webhooks:read", "refuse"],
  "webhooks.delivery": ["webhooks:read", "refuse"],
  "webhooks.redeliver": ["webhooks:write", "refuse"],
  "webhooks.recover": ["webhooks:write", "refuse"],
  "webhookEvents.list": ["webhooks:read", "refuse"],
  "events.stream": ["events:read", "filter"],
  "changes.list": ["events:read", "filter"],
};

/**
 * Decisions §1, "Unauthenticated operations", the tus discovery request, which carries no data of anyone, and the network file, which the
 * operator gives to everybody.
 */
const OPEN = [
  "auth.signup",
  "auth.login",
  "auth.refresh",
  "auth.logout",
  "auth.forgotPassword",
  "auth.resetPassword",
  "auth.verifyEmail",
  "auth.resendVerification",
  "auth.checkAccessCode",
  "identityProvider.authorize",
  "identityProvider.authorizeZklogin",
  "identityProvider.callback",
  "identityProvider.zkloginToken",
  "identityProvider.zkloginAuth",
  "invites.redeem",
  "billing.events",
  "development.signup",
  "uploads.options",
  "system.health",
  "system.ready",
  "system.metrics",
  "system.network",
  "system.openapi",
];

const endpoints = new Map<string, EndpointDefinition>(endpointsOf(api).map((endpoint) => [endpoint.id, endpoint]));

describe("the permission matrix", () => {
  it.each(TABLE)(
    "%s: owner yes, %s [S5.9-files S5.9-folders S5.9-vault-list S5.9-trash S5.9-vault-changes S5.9-keys S5.9-billing D4-owner-only-key-list D4-owner-only-permanent D4-owner-only-invites D4-owner-only-audit D4-owner-only-sessions D4-owner-only-feed D4-restore-both S5.9-webhooks D0-agents-no-webhooks S5.9-members D4-owner-only-members]",
    (_operation, agent, ids) => {
      const access = agent === "agent" ? "agent" : "owner";
      for (const id of ids)
        expect({ id, access: endpoints.get(id)?.access, auth: endpoints.get(id)?.auth }).toEqual({
          id,
          access,
          auth: "credential",
        });
    },
  );

  it("names every endpoint that asks for a credential, once", () => {
    const named = TABLE.flatMap(([, , ids]) => ids);
    const asking = [...endpoints.values()].filter(({ auth }) => auth === "credential").map(({ id }) => id);
    expect([...named].sort()).toEqual(asking.sort());
  });

  it("asks for exactly these scopes and vault limits", () => {
    const actual = Object.fromEntries(
      [...endpoints.values()]
        .filter(({ auth }) => auth === "credential")
        .map(({ id, scope, vaultLimit }) => [id, [scope, vaultLimit]]),
    );
    expect(actual).toEqual(RIGHTS);
  });

  it("asks agents for files:read in the place of events:read, and for no other scope of their own", () => {
    const own = [...endpoints.values()].filter(({ agentScope }) => agentScope !== undefined);
    expect(own.map(({ id, agentScope }) => [id, agentScope])).toEqual([
      ["events.stream", "files:read"],
      ["changes.list", "files:read"],
    ]);
  });

  it("leaves exactly these endpoints open", () => {
    const open = [...endpoints.values()].filter(({ auth }) => auth === "none");
    expect(open.map(({ id }) => id).sort()).toEqual([...OPEN].sort());
    for (const endpoint of open) expect(endpoint.access).toBe("anyone");
  });

  it("never lets an agent hold a scope of an owner-only endpoint, and lets it hold all others", () => {
    const scopesOf = (access: string) =>
      [...endpoints.values()].flatMap((endpoint) =>
        endpoint.access === access ? (scopeOf(endpoint, access) ?? []) : [],
      );
    // Permanent deletion of what agents may put in the trash: the scope is theirs, the operation is not.
    const shared = new Set(["files:write"]);
    for (const scope of scopesOf("owner")) expect(AGENT_SCOPES.includes(scope)).toBe(shared.has(scope));
    for (const scope of scopesOf("agent")) expect(AGENT_SCOPES).toContain(scope);
  });
});
