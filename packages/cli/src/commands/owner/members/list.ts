import { findVault, untrusted } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { VAULT } from "../vault-argument.ts";
import { listing } from "../../../result.ts";
import { endText, word } from "../cell-text.ts";

export default command({
  brief: "List the members of a shared vault",
  description: "As the service and the chain see them, the owner first. The chain alone decides who can decrypt.",
  examples: [{ line: "coffer vaults members list Team", does: "addresses, roles, ends, and both layers" }],
  args: [VAULT] as const,
  isList: true,
  run: async ({ task, client, signal }, _flags, [name]) => {
    const vault = await findVault(task, name);
    const members = (await (await client()).vaults.members.list(vault.id, { signal })).items;
    return listing({
      name: "members",
      items: members,
      otherFields: { vaultId: vault.id },
      empty: "No members.",
      columns: [
        { title: "address", of: ({ chainAddress }) => chainAddress },
        { title: "role", of: ({ role }) => word(role) },
        { title: "service", of: ({ layers }) => word(layers.service) },
        { title: "chain", of: ({ layers }) => word(layers.chain) },
        { title: "ends", of: ({ endsAt }) => endText(endsAt) },
        { title: "label", of: ({ label }) => untrusted(label) },
      ],
    });
  },
});
