import { inCommandWords, findVault } from "@coffer/tasks";
import { argument, command, toggle } from "../../../declarations.ts";
import { VAULT } from "../vault-argument.ts";
import { exitOfActs } from "../../../exit-codes.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { rotateVault, rotationLines } from "../vaults/rotation.ts";
import { printWarnings } from "../cell-text.ts";

export default command({
  brief: "Remove a member from a shared vault",
  description:
    "The member cannot open what is written from then on. What it could read before it can still read, if it gets the bytes. --rotate encrypts all of that again.",
  examples: [
    {
      line: "coffer vaults members remove Team 0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f",
      does: "asks first; --yes does not",
    },
  ],
  flags: {
    rotate: toggle("Also encrypt everything in the vault again, under new keys"),
    noRewrap: toggle("Leave what was written before as it is, which is the default"),
  },
  args: [VAULT, argument("ADDRESS", "0x and 64 digits")] as const,
  run: async (context, { rotate, noRewrap }, [name, addressText]) => {
    const { task, signal, confirm } = context;
    if (rotate && noRewrap) throw usage("--rotate and --no-rewrap contradict each other", "leave one out");
    const vault = await findVault(task, name);
    const address = addressText.toLowerCase();
    await confirm(`Remove ${address} from the vault ${vault.id}?`);
    const client = await context.client();
    const removed = await client.vaults.members.remove(vault.id, address, { signal });
    printWarnings(context, removed.warnings);
    const json = { ...removed, vaultId: vault.id, chainAddress: address };
    const lines = [`${address} is no member of ${vault.id} any more.`, inCommandWords(removed.effect, vault.id)];
    if (!rotate) return done({ ...json, rotation: null }, lines);
    const rotation = await rotateVault(context, vault.id);
    return done({ ...json, rotation }, [...lines, ...rotationLines(rotation)], {
      exit: exitOfActs(rotation.failed.length),
    });
  },
});
