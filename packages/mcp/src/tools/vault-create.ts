import { api, VAULT_TYPES } from "@coffer/contract";
import { defaultVaultType, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { moment, word } from "../fact-values.ts";

export const vaultCreate = defineTool({
  name: "vault_create",
  profile: "owner",
  title: "Create a vault",
  description:
    "Creates a vault. shared: encrypted for its members. public: public to the service, not encrypted from it, visible to this account only.",
  endpoints: [api.vaults.create],
  input: { name: api.vaults.create.body.shape.name, type: z.optional(z.enum(VAULT_TYPES)) },
  describe: { name: "at most 255 bytes", type: "default: shared, if this server has a chain key" },
  output: { vaultId: TEXT, type: TEXT, created: TEXT, name: TEXT },
  run: async ({ name, type }, call) => {
    const client = await call.client();
    const kind = type ?? defaultVaultType(await call.setup());
    const vault = await client.vaults.create({ name, type: kind }, { signal: call.signal });
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
});
