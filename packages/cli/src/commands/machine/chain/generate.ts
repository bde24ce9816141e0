import { saveChainKey } from "../../../chain-keys.ts";
import { command, toggle } from "../../../declarations.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Make a chain key and save it in the profile",
  examples: [{ line: "coffer chain generate", does: "an Ed25519 key, in the 0600 file" }],
  flags: { replace: toggle("Replace the one that is there") },
  run: async (context, { replace }) => {
    const { generateChainKey } = await import("@coffer/sdk");
    const { privateKey, chainAddress } = await generateChainKey();
    context.redaction.register(privateKey.reveal());
    const { profile, configFile } = await saveChainKey(context, privateKey, replace);
    return done({ chainAddress, profile, configFile }, [
      `Saved a new chain key in ${configFile} (profile ${profile}).`,
      `Its address: ${chainAddress}`,
      "Next: coffer chain backup FILE, then coffer account link-chain",
    ]);
  },
});
