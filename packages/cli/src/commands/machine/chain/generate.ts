import { addressAtService, hasChainKey, KEY_IS_ELSEWHERE, saveChainKey } from "../../../chain-keys.ts";
import type { Context } from "../../../context.ts";
import { command, toggle } from "../../../declarations.ts";
import { CommandFailure } from "../../../failure.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Make a chain key and save it in the profile",
  description:
    "For an account that has no chain address yet. One that has an address needs the key of that address: coffer chain import.",
  examples: [{ line: "coffer chain generate", does: "an Ed25519 key, in the 0600 file" }],
  flags: { replace: toggle("Replace the one that is there, or that of the account's address, which is lost") },
  run: async (context, { replace }) => {
    if (!(await hasChainKey(context))) await requireNoAddress(context, replace);
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

/** Whoever is signed in and has an address has a key for it, elsewhere. */
async function requireNoAddress(context: Context, replace: boolean): Promise<void> {
  const { apiKey, baseUrl, session } = await context.settings();
  if (baseUrl === null || (apiKey === null && session === null)) return;
  const address = addressAtService(await (await context.client()).account.get({ signal: context.signal }));
  if (address === null) return;
  if (replace) return await context.confirm(`Make a new key? It opens no vault of ${address}, the account's address.`);
  throw new CommandFailure("key_exists", {
    message: `The account has the chain address ${address} already, and its key is not on this machine`,
    nextStep: KEY_IS_ELSEWHERE,
  });
}
