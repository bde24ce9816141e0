import { api } from "@coffer/contract";
import { untrusted } from "@coffer/tasks";
import type { Fact } from "../result.ts";
import { defineTool } from "../tool.ts";
import { word } from "../words.ts";

export const accountTools = [
  defineTool({
    name: "account_get",
    title: "Who am I",
    description: "The account and key in use: access level, scopes, vaults, expiry, usage and limits in bytes.",
    endpoints: [api.account.get],
    input: {},
    run: async (_args, call) => {
      const client = await call.client();
      const { account, credential } = await client.account.get({ signal: call.signal });
      return {
        summary:
          account.accessLevel === "owner" ? "This key acts as the account's owner." : "This key acts as an agent.",
        facts: {
          accountId: account.id,
          email: untrusted(account.email),
          accessLevel: word(account.accessLevel),
          chainAddress: account.chainAddress,
          plan: word(account.plan),
          key: keyFacts(credential),
          usage: { ...account.usage },
          limits: { storageBytes: account.limits.storageBytes, fileBytes: account.limits.fileBytes },
        },
      };
    },
  }),
] as const;

interface KeyFacts {
  readonly id: string | null;
  readonly name: string | null;
  readonly scopes: readonly string[] | null;
  readonly vaultIds: readonly string[] | null;
  readonly expiresAt: string | null;
}

function keyFacts(key: KeyFacts): Fact {
  return {
    id: key.id,
    name: key.name === null ? null : untrusted(key.name),
    scopes: key.scopes === null ? "all" : key.scopes.map(word),
    vaultIds: key.vaultIds ?? "all",
    expires: key.expiresAt ?? "never",
  };
}
