import { untrusted } from "@coffer/tasks";
import { command, optionalArgument } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { vaultIdOf } from "../vault-paths.ts";

export default command({
  brief: "Delete what is in the trash for good",
  description:
    "Without a vault it empties the trash of all public vaults. Name shared ones one by one: their owner signs for it. Nobody can read what is deleted, and its bytes leave the server's disk 24 hours later.",
  examples: [{ line: 'coffer trash empty "Team" --yes', does: "without a question" }],
  args: [optionalArgument("vault", "Name or id of a vault; all public ones without it")] as const,
  run: async ({ client, confirm, signal, task }, _flags, [vault]) => {
    const vaultId = vault === undefined ? null : await vaultIdOf(task, vault.replace(/:$/, ""));
    await confirm(vaultId === null ? "Empty the trash of all public vaults?" : `Empty the trash of vault ${vaultId}?`);
    const { trash } = await client();
    const { leftVaults } = await trash.empty(vaultId === null ? {} : { vaultId }, { signal });
    return done({ emptied: vaultId ?? "public vaults", leftVaults }, [
      "The trash is empty",
      ...leftVaults.map(({ id, name }) => untrusted(`left: ${name}. Empty it by itself: coffer trash empty ${id}`)),
    ]);
  },
});
