import { inCommandWords, untrusted } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { exitOfActs } from "../../../exit-codes.ts";
import { done } from "../../../result.ts";
import { VAULT, vaultIdOf } from "../vault-argument.ts";
import { printWarnings } from "../cell-text.ts";

export default command({
  brief: "Seal the keys of a shared vault for other key servers",
  description:
    "The new ones are the key servers that the network file names first. Files and names stay as they are. Safe to repeat.",
  examples: [{ line: "coffer vaults reseal Team", does: "after the network file changed" }],
  args: [VAULT] as const,
  run: async (context, _flags, [nameOrId]) => {
    const vaultId = await vaultIdOf(context.task, nameOrId);
    const client = await context.client();
    const result = await client.vaults.reseal(vaultId, { signal: context.signal });
    const { resealed, already, effect, warnings } = result;
    printWarnings(context, warnings);
    const { failed } = result;
    const lines = [
      `Sealed again: ${String(resealed)} keys. Sealed before: ${String(already)}.`,
      ...failed.map(({ generation, code, message }) =>
        untrusted(`not sealed: a key of generation ${String(generation)}: ${code}: ${message}`),
      ),
      inCommandWords(effect, vaultId),
    ];
    return done({ vaultId, resealed, already, failed, effect, warnings }, lines, {
      exit: exitOfActs(failed.length),
    });
  },
});
