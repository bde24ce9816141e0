import { api, VAULT_TYPES, type Vault } from "@coffer/contract";
import { untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Fact } from "../result.ts";
import { defineTool } from "../tool.ts";
import { moment, token, word } from "../words.ts";
import { pageInput } from "./page-input.ts";

const COLUMNS = ["vaultId", "type", "created", "name"];

export const vaultTools = [
  defineTool({
    name: "vault_list",
    title: "List vaults",
    description: "The vaults this key reaches, newest first. Start here to find a vaultId.",
    endpoints: [api.vaults.list],
    input: { type: z.optional(z.enum(VAULT_TYPES)), ...pageInput },
    describe: { type: "default: both" },
    run: async ({ type, limit, cursor }, call) => {
      const client = await call.client();
      if (call.pinnedVault !== null) {
        const vault = await client.vaults.get(call.pinnedVault, { signal: call.signal });
        return { summary: "This server serves one vault.", facts: {}, table: tableOf([vault]) };
      }
      const query = { limit, ...(cursor === undefined ? {} : { cursor }), ...(type === undefined ? {} : { type }) };
      const page = await client.vaults.list(query, { signal: call.signal });
      return {
        summary: `${String(page.vaults.length)} vaults.`,
        facts: { nextCursor: token(page.nextCursor) },
        table: tableOf(page.vaults),
      };
    },
  }),
  defineTool({
    name: "vault_create",
    title: "Create a vault",
    description:
      "Creates a vault, public unless type says otherwise. Public: readable by the service; shared: encrypted for its members.",
    endpoints: [api.vaults.create],
    input: { name: api.vaults.create.body.shape.name, type: z.optional(z.enum(VAULT_TYPES)) },
    describe: { name: "at most 255 bytes", type: "default: public" },
    run: async ({ name, type }, call) => {
      const client = await call.client();
      const vault = await client.vaults.create({ name, type: type ?? "public" }, { signal: call.signal });
      return {
        summary: "The vault is ready.",
        facts: {
          vaultId: vault.id,
          type: word(vault.type),
          created: moment(vault.createdAt),
          name: untrusted(vault.name),
        },
      };
    },
  }),
] as const;

function tableOf(vaults: readonly Vault[]): { name: string; columns: string[]; rows: Fact[][] } {
  const rows = vaults.map((vault) => [vault.id, word(vault.type), moment(vault.createdAt), untrusted(vault.name)]);
  return { name: "vaults", columns: COLUMNS, rows };
}
