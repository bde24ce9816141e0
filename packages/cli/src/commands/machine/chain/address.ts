import { requireChainKey } from "../../../chain-keys.ts";
import { command } from "../../../declarations.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Print the chain address of this machine",
  examples: [{ line: "coffer chain address", does: "for the owner of a vault to add" }],
  run: async (context) => {
    const { signer, source } = await requireChainKey(context);
    return done({ chainAddress: signer.chainAddress, source }, [signer.chainAddress]);
  },
});
