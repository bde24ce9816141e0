import { command } from "../../../declarations.ts";
import { VAULT, vaultIdOf } from "../vault-argument.ts";
import { actReport } from "./act-report.ts";

export default command({
  brief: "Leave a shared vault",
  description: "It removes your own chain address. Only the vault's owner can add you again. Your files stay there.",
  examples: [{ line: "coffer vaults leave Team", does: "asks first" }],
  args: [VAULT] as const,
  run: async (context, _flags, [nameOrId]) => {
    const vaultId = await vaultIdOf(context.task, nameOrId);
    await context.confirm(`Leave the vault ${vaultId}? Only its owner can add you again.`);
    const client = await context.client();
    const result = await client.vaults.leave(vaultId, { signal: context.signal });
    return actReport(context, vaultId, result, `You are no member of ${vaultId} any more.`);
  },
});
