import { findTrashedVault, findVault, toFailure, untrusted, type Task } from "@coffer/tasks";
import type { Vault } from "@coffer/sdk";
import { command, toggle } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { VAULT } from "../vault-argument.ts";

export default command({
  brief: "Delete a vault",
  description:
    "It goes to the trash with everything in it. coffer vaults restore brings it back for 30 days. With --permanent nothing does, and the bytes leave the server's disk 24 hours later.",
  examples: [
    { line: "coffer vaults delete Team", does: "only when it is empty; asks first" },
    { line: "coffer vaults delete Team --force --yes", does: "with all its files, unasked" },
  ],
  flags: {
    force: toggle("Also when it is not empty"),
    permanent: toggle("For good: nothing brings it back"),
  },
  args: [VAULT] as const,
  run: async (context, { force, permanent }, [nameOrId]) => {
    const { task, signal, confirm } = context;
    const { id, name, trashedAt } = await findAnyVault(task, nameOrId, permanent);
    const what = `the vault ${id} (${untrusted(name).visible()})`;
    await confirm(permanent ? `Delete ${what} for good, with everything in it?` : `Move ${what} to the trash?`);
    const client = await context.client();
    const words = { ...(force && trashedAt === null ? { force } : {}), ...(permanent ? { permanent } : {}), signal };
    const vault = await client.vaults.delete(id, words);
    return done({ vaultId: id, vault, permanent }, [
      permanent ? `Deleted ${id} for good` : `Moved ${id} to the trash. Bring it back: coffer vaults restore ${id}`,
    ]);
  },
});

/** What is deleted for good may be in the trash already. */
async function findAnyVault(task: Task, text: string, permanent: boolean): Promise<Vault> {
  try {
    return await findVault(task, text);
  } catch (thrown) {
    if (!permanent || toFailure(thrown).code !== "not_found") throw thrown;
    return await findTrashedVault(task, text);
  }
}
