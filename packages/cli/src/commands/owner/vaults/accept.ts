import { command, text } from "../../../declarations.ts";
import { VAULT, vaultIdOf } from "../vault-argument.ts";
import { actReport } from "./act-report.ts";

export default command({
  brief: "Take over a shared vault that was offered to you",
  description: "From then on it counts for your account, and the former owner is no member any more. Safe to repeat.",
  examples: [{ line: 'coffer vaults accept Team --name "Team of Ann"', does: "asks first" }],
  flags: { name: text("Its name in your account; the former one without it") },
  args: [VAULT] as const,
  run: async (context, { name }, [nameOrId]) => {
    const vaultId = await vaultIdOf(context.task, nameOrId);
    await context.confirm(`Take over the vault ${vaultId}? It then counts for your account.`);
    const client = await context.client();
    const words = { signal: context.signal, ...(name === undefined ? {} : { name }) };
    const result = await client.vaults.acceptOwnership(vaultId, words);
    return actReport(context, vaultId, result, `The vault ${vaultId} is yours.`);
  },
});
