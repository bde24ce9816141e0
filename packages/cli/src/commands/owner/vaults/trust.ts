import { wholeId } from "@coffer/tasks";
import { argument, command, requiredText } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Pin a shared vault to what its owner told you",
  description:
    "Use only what the owner gave you on a channel other than the service. From then on this machine accepts neither another object nor another owner.",
  examples: [
    {
      line: "coffer vaults trust 5f0c2a1e-7b64-4c1d-9a51-0c7f3d2b1a90 --object 0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f --owner 0x1a2b3c4d5e6f708192a3b4c5d6e7f6f0e8d1c2b3a495867768594a3b2c1d0e0f",
      does: "before the first meeting with it",
    },
  ],
  flags: {
    object: requiredText("The vault's object on the chain", { placeholder: "0x…" }),
    owner: requiredText("Chain address of its owner", { placeholder: "0x…" }),
  },
  args: [argument("VAULT_ID", "The whole id of the vault")] as const,
  run: async (context, { object, owner }, [idText]) => {
    const vaultId = wholeId(idText);
    // A name would be looked up at the service, which is not to be trusted here.
    if (vaultId === null) throw usage("Pass the whole id of the vault", "ask the vault's owner for it");
    const pinned = { chainObjectId: object.toLowerCase(), ownerAddress: owner.toLowerCase() };
    const client = await context.client();
    await client.vaults.trust(vaultId, pinned, { signal: context.signal });
    return done({ vaultId, ...pinned }, [`The vault ${vaultId} is pinned to that object and that owner`]);
  },
});
