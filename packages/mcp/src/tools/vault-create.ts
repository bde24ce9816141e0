import { api, VAULT_TYPES } from "@coffer/contract";
import { untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { moment, word } from "../fact-values.ts";

export const vaultCreate = defineTool({
  name: "vault_create",
  profile: "owner",
  title: "Create a vault",
  description:
    "Creates a vault, public unless type says otherwise. Public: readable by the service; shared: encrypted for its members.",
  endpoints: [api.vaults.create],
  input: { name: api.vaults.create.body.shape.name, type: z.optional(z.enum(VAULT_TYPES)) },
  describe: { name: "at most 255 bytes", type: "default: public" },
  output: { vaultId: TEXT, type: TEXT, created: TEXT, name: TEXT },
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
});
