import { findTrashedVault, untrusted } from "@coffer/tasks";
import { argument, command, text } from "../../../declarations.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Bring a vault back from the trash",
  examples: [
    { line: "coffer vaults restore Team", does: "with everything in it" },
    { line: 'coffer vaults restore Team --name "Old team"', does: "where the name is taken" },
  ],
  flags: { name: text("A new name for it") },
  args: [argument("VAULT", "Name, id, or beginning of the id, of a vault in the trash")] as const,
  run: async (context, { name }, [nameOrId]) => {
    const { id } = await findTrashedVault(context.task, nameOrId);
    const client = await context.client();
    const changes = name === undefined ? {} : { name };
    const vault = await client.vaults.restore(id, changes, { signal: context.signal });
    return done({ vault }, [untrusted(`Restored the vault ${id} (${vault.name})`)]);
  },
});
