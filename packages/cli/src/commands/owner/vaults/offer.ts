import { untrusted } from "@coffer/tasks";
import { command, optionalArgument, toggle } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { VAULT, vaultIdOf } from "../vault-argument.ts";
import { actReport } from "./act-report.ts";

export default command({
  brief: "Offer a shared vault to one of its members",
  description: "The member takes it over with coffer vaults accept VAULT. Until then it is yours.",
  examples: [
    {
      line: "coffer vaults offer Team 0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f",
      does: "asks first",
    },
    { line: "coffer vaults offer Team --withdraw", does: "takes the offer back" },
  ],
  flags: { withdraw: toggle("Take the offer back") },
  args: [VAULT, optionalArgument("ADDRESS", "Chain address of a member")] as const,
  run: async (context, { withdraw }, [nameOrId, address]) => {
    if (withdraw === (address !== undefined))
      throw usage("Name the member, or pass --withdraw", "coffer vaults offer VAULT ADDRESS");
    const vaultId = await vaultIdOf(context.task, nameOrId);
    const offeredTo = address?.toLowerCase() ?? null;
    if (offeredTo !== null) await context.confirm(`Offer the vault ${vaultId} to ${offeredTo}?`);
    const client = await context.client();
    const result = await client.vaults.offerOwnership(vaultId, offeredTo, { signal: context.signal });
    if (offeredTo === null) return actReport(context, vaultId, result, "The offer is withdrawn.", { offeredTo });
    const theirs = [untrusted(`  coffer vaults accept ${vaultId}`)];
    return actReport(context, vaultId, result, `Offered to ${offeredTo}, who takes it with:`, { offeredTo }, theirs);
  },
});
