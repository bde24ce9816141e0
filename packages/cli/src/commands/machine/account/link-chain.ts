import { addressAtService, KEY_IS_ELSEWHERE, requireChainKey } from "../../../chain-keys.ts";
import type { Context } from "../../../context.ts";
import { command, optionalArgument } from "../../../declarations.ts";
import { CommandFailure, usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import type { Account, Signer } from "@coffer/sdk";

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
    const account = await link(context, signer);
    return done({ account }, [`Linked ${chainAddress}.`, 'Next: coffer vaults create "Team" --shared']);
  },
});

/** An account whose vaults need the address that it has keeps it: its key is what this machine lacks, not another address. */
async function link(context: Context, signer: Signer): Promise<Account> {
  const client = await context.client();
  const { signal } = context;
  try {
    return await client.account.linkChain(signer, { signal });
  } catch (thrown) {
    const { SdkError } = await import("@coffer/sdk");
    if (!(thrown instanceof SdkError) || thrown.code !== "address_conflict") throw thrown;
    const theirs = addressAtService(await client.account.get({ signal }));
    if (theirs === null || theirs === signer.chainAddress) throw thrown;
    throw new CommandFailure("address_conflict", {
      message: `The account has the chain address ${theirs}, and keeps it: ${thrown.message}`,
      nextStep: KEY_IS_ELSEWHERE,
      cause: thrown,
    });
  }
}
