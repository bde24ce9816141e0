import { requireChainKey } from "../../../chain-keys.ts";
import { command, optionalArgument } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Link the chain address of this machine to the account",
  description: "The chain key signs for it, so the address has to be its own.",
  examples: [{ line: "coffer account link-chain", does: "once for an account" }],
  args: [optionalArgument("address", "The address, to be sure that it is this one")] as const,
  run: async (context, _flags, [address]) => {
    const { signer } = await requireChainKey(context);
    const { chainAddress } = signer;
    if (address !== undefined && address.toLowerCase() !== chainAddress)
      throw usage(`The chain key of this machine has another address: ${chainAddress}`, "coffer chain import");
    const account = await (await context.client()).account.linkChain(signer, { signal: context.signal });
    return done({ account }, [`Linked ${chainAddress}.`, 'Next: coffer vaults create "Team" --shared']);
  },
});
