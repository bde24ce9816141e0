import { api } from "@coffer/contract";
import { type Access, listAccess, shortIds, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Fact } from "../result.ts";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { minute, token, word } from "../fact-values.ts";
import { pageInput, readCursor } from "./page-input.ts";
import { namedVault, vaultRef } from "./reference-input.ts";

export const accessList = defineTool({
  name: "access_list",
  profile: "owner",
  title: "List who has access",
  description:
    "Keys, invites and members of shared vaults in one table: rights, vaults, ends, budgets. Keys come first.",
  endpoints: [api.apiKeys.list, api.invites.list, api.members.list],
  input: { vaultId: z.optional(vaultRef), ...pageInput },
  describe: { vaultId: "id or name; default: all" },
  output: { nextCursor: TEXT },
  table: "access",
  run: async ({ vaultId, limit, cursor }, call) => {
    const vault = await namedVault(call, vaultId);
    const start = readCursor(cursor);
    const page = await listAccess(call, vault, limit, start.cursor);
    const rows = page.rows.slice(start.skip);
    const short = shortIds(rows.flatMap(idsOf));
    return {
      summary: `${String(rows.length)} ways in${page.next === null ? "" : ", and there is more"}.`,
      facts: { nextCursor: token(page.next) },
      table: {
        name: "access",
        columns: ["kind", "id", "state", "rights", "vaults", "ends", "budgets", "name"],
        rows: rows.map((row) => rowOf(row, short)),
        cursorAfter: (rowCount) => `skip${String(start.skip + rowCount)}~${start.cursor ?? ""}`,
      },
    };
  },
});

function idsOf(row: Access): string[] {
  if (row.kind === "member") return [row.vaultId];
  return row.kind === "key"
    ? [row.key.id, ...(row.key.vaultIds ?? [])]
    : [row.invite.id, ...(row.invite.vaultIds ?? [])];
}

function rowOf(row: Access, short: (id: string) => string): Fact[] {
  if (row.kind === "member") {
    const { chainAddress, role, layers, endsAt, label } = row.member;
    const state = `service ${layers.service}, chain ${layers.chain}`;
    return ["member", chainAddress, state, word(role), short(row.vaultId), endOf(endsAt), null, untrusted(label)];
  }
  if (row.kind === "key") {
    const { key } = row;
    const state = key.revokedAt === null ? (key.lastUsedAt === null ? "never used" : "in use") : "revoked";
    return [
      "key",
      short(key.id),
      state,
      ...sharedFacts(key, short, key.accessLevel),
      endOf(key.expiresAt),
      budgetsOf(key),
      untrusted(key.name),
    ];
  }
  const { invite } = row;
  return [
    "invite",
    short(invite.id),
    word(invite.status),
    ...sharedFacts(invite, short, "agent"),
    endOf(invite.accessUntil ?? invite.expiresAt),
    budgetsOf(invite),
    untrusted(invite.name),
  ];
}

interface Rights {
  readonly scopes: readonly string[] | null;
  readonly vaultIds: readonly string[] | null;
}

function sharedFacts({ scopes, vaultIds }: Rights, short: (id: string) => string, level: string): Fact[] {
  return [
    scopes === null ? `all of ${level}` : scopes.join(" "),
    vaultIds === null ? "all" : vaultIds.map(short).join(" "),
  ];
}

function endOf(endsAt: string | null): Fact {
  return endsAt === null ? "never" : minute(endsAt);
}

function budgetsOf({ budgets }: { readonly budgets: object | null }): Fact {
  if (budgets === null) return null;
  return Object.entries(budgets)
    .flatMap(([name, amount]: [string, unknown]) => (typeof amount === "number" ? [`${name} ${String(amount)}`] : []))
    .join(", ");
}
