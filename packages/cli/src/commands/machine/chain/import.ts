import { saveChainKey } from "../../../chain-keys.ts";
import { command, toggle } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { readSecret } from "../../../profile-credentials.ts";

export default command({
  brief: "Save a chain key that you have",
  examples: [{ line: "coffer chain import --stdin < key.txt", does: "a text that begins with suiprivkey1" }],
  flags: { stdin: toggle("Read the key from standard input"), replace: toggle("Replace the one that is there") },
  run: async (context, { stdin, replace }) => {
    const { chainKeySigner, Secret } = await import("@coffer/sdk");
    const text = (await readSecret(context, stdin, "Chain key", "--stdin")).trim();
    const privateKey = new Secret(text);
    const { chainAddress } = await chainKeySigner(privateKey);
    const { profile, configFile } = await saveChainKey(context, privateKey, replace);
    return done({ chainAddress, profile, configFile }, [
      `Saved the chain key in ${configFile} (profile ${profile}).`,
      `Its address: ${chainAddress}`,
    ]);
  },
});
