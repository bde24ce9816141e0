import { argument, command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { VAULT, vaultIdOf } from "../vault-argument.ts";

export default command({
  brief: "Accept the new owner of a shared vault",
  description: "Use only an address that the new owner sent you on a channel other than the service.",
  examples: [
    {
      line: "coffer vaults trust-owner Team 0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f",
      does: "after the failure vault_changed",
    },
  ],
  args: [VAULT, argument("ADDRESS", "Chain address of the new owner")] as const,
  run: async (context, _flags, [nameOrId, address]) => {
    const vaultId = await vaultIdOf(context.task, nameOrId);
    const ownerAddress = address.toLowerCase();
    const client = await context.client();
    await client.vaults.trustOwner(vaultId, ownerAddress, { signal: context.signal });
    return done({ vaultId, ownerAddress }, [`The vault ${vaultId} is pinned to the owner ${ownerAddress}`]);
  },
});
