import { command, text } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { VAULT, vaultIdOf } from "../vault-argument.ts";

export default command({
  brief: "Forget which states of a vault this machine has seen",
  description:
    "Use it only after the operator told you that the service was restored from a backup. Otherwise the failure rolled_back is an alarm: somebody shows you an older state.",
  examples: [{ line: "coffer vaults forget-seen Team", does: "the next answer counts as the newest" }],
  flags: { item: text("Only those of this file or folder", { placeholder: "ID" }) },
  args: [VAULT] as const,
  run: async (context, { item }, [nameOrId]) => {
    const vaultId = await vaultIdOf(context.task, nameOrId);
    await context.confirm(`Accept older states of ${vaultId} than this machine has seen?`);
    const client = await context.client();
    const words = { signal: context.signal, ...(item === undefined ? {} : { id: item.toLowerCase() }) };
    await client.vaults.forgetSeen(vaultId, words);
    return done({ vaultId, item: item ?? null }, [`This machine forgot what it had seen of ${item ?? vaultId}`]);
  },
});
