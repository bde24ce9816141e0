import { api, type Vault } from "@coffer/contract";
import { findVault, shortIds, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact, Outcome } from "../result.ts";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { minute, moment, token, word } from "../fact-values.ts";
import { cursorAfter, pageInput, readCursor } from "./page-input.ts";
import { vaultRef } from "./reference-input.ts";

/** Shared vaults that one call asks the chain about. */
const MOST_ASKED = 10;
/** What the chain did not answer by then is `unknown`. */
const CHAIN_WAIT_MS = 4_000;

export const vaultList = defineTool({
  name: "vault_list",
  profile: "read",
  title: "List vaults",
  description:
    "Your vaults, and those shared by other accounts: your role, and whether each opens. With vaultId: that vault and its members.",
  endpoints: [api.vaults.list, api.vaults.get],
  input: { vaultId: z.optional(vaultRef), cursor: pageInput.cursor },
  describe: { vaultId: "id or name; default: all" },
  output: { vaultId: TEXT, type: TEXT, role: TEXT, opens: TEXT, created: TEXT, name: TEXT, nextCursor: TEXT },
  table: "rows",
  run: async ({ vaultId, cursor }, call) =>
    vaultId === undefined ? await listVaults(call, cursor) : await showVault(call, await findVault(call, vaultId)),
});

/** A page is of the account's own vaults, or of those of others: a cursor of the second kind begins with `others~`. */
const OTHERS = "others~";

async function listVaults(call: Call, cursor: string | undefined): Promise<Outcome> {
  const isLater = cursor?.startsWith(OTHERS) ?? false;
  const own = isLater ? null : await vaultPage(call, cursor, false);
  const others =
    own !== null && own.next !== null
      ? null
      : await vaultPage(call, isLater ? cursor?.slice(OTHERS.length) : undefined, true);
  const vaults = [...(own?.vaults ?? []), ...(others?.vaults ?? [])];
  const opens = await opennessOf(call, vaults);
  const short = shortIds(vaults.map(({ id }) => id));
  const rows = vaults.map((vault): Fact[] => [
    ...[short(vault.id), word(vault.type), word(vault.role), opens.get(vault.id) ?? "unknown"],
    ...[minute(vault.createdAt), untrusted(vault.name)],
  ]);
  const ownRows = own?.vaults.length ?? 0;
  const next = own?.next ?? (others?.next == null ? null : OTHERS + others.next);
  return {
    summary: `${String(vaults.length)} vaults${next === null ? "" : " on this page"}.`,
    facts: { nextCursor: token(next) },
    table: {
      name: "rows",
      columns: ["vaultId", "type", "role", "opens", "created", "name"],
      rows,
      cursorAfter: (rowCount) =>
        own !== null && rowCount < ownRows
          ? cursorAfter(own.start)(rowCount)
          : OTHERS + cursorAfter(others?.start ?? { cursor: null, skip: 0 })(rowCount - ownRows),
    },
  };
}

async function vaultPage(call: Call, cursor: string | undefined, shared: boolean) {
  const start = readCursor(cursor);
  const client = await call.client();
  const query = {
    limit: 50,
    ...(shared ? { shared } : {}),
    ...(start.cursor === null ? {} : { cursor: start.cursor }),
  };
  const page = await client.vaults.list(query, { signal: call.signal });
  return { start, vaults: page.vaults.slice(start.skip), next: page.nextCursor };
}

/** Whether each vault opens to this server, or the first reason why not. */
async function opennessOf(call: Call, vaults: readonly Vault[]): Promise<Map<string, Fact>> {
  const opens = new Map<string, Fact>();
  const chainAddress = await call.chainAddress();
  const shared = vaults.filter(({ type }) => type !== "public");
  for (const { id, type } of vaults) if (type === "public") opens.set(id, "yes");
  if (chainAddress === null) for (const { id } of shared) opens.set(id, "no chain key");
  else await Promise.all(shared.slice(0, MOST_ASKED).map(async ({ id }) => opens.set(id, await openness(call, id))));
  return opens;
}

async function openness(call: Call, vaultId: string): Promise<Fact> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(CHAIN_WAIT_MS)]);
  try {
    const client = await call.client();
    const { api: service, chain, keyServers, clock, key } = await client.vaults.checkAccess(vaultId, { signal });
    const layers = [service, clock, chain, keyServers, key];
    const failed = layers.find(({ state }) => state === "failed");
    if (failed !== undefined) return failed.cause === null ? "no" : word(failed.cause);
    return layers.every(({ state }) => state === "ok") ? "yes" : "unknown";
  } catch (error) {
    if (call.signal.aborted) throw error;
    return "unknown";
  }
}

async function showVault(call: Call, vault: Vault): Promise<Outcome> {
  const client = await call.client();
  const facts = {
    vaultId: vault.id,
    type: word(vault.type),
    role: word(vault.role),
    opens: (await opennessOf(call, [vault])).get(vault.id) ?? "unknown",
    created: moment(vault.createdAt),
    name: untrusted(vault.name),
  };
  if (vault.type === "public") return { summary: "A public vault has no members: its owner's keys reach it.", facts };
  const members = (await client.vaults.members.list(vault.id, { signal: call.signal })).items;
  const rows = members.map(({ chainAddress, role, layers, endsAt, label }): Fact[] => [
    ...[chainAddress, word(role), word(layers.service), word(layers.chain)],
    ...[endsAt === null ? "never" : minute(endsAt), untrusted(label)],
  ]);
  return {
    summary: `${String(members.length)} members.`,
    facts,
    table: { name: "rows", columns: ["chainAddress", "role", "service", "chain", "ends", "label"], rows },
  };
}
