import { command } from "../../../declarations.ts";
import { exitOfActs } from "../../../exit-codes.ts";
import { done } from "../../../result.ts";
import { VAULT, vaultIdOf } from "../vault-argument.ts";
import { rotateVault, rotationLines } from "./rotation.ts";

export default command({
  brief: "Encrypt a shared vault again, under new keys",
  description:
    "It encrypts again what former members could read. Members can read meanwhile. After an interruption the same command goes on.",
  examples: [{ line: "coffer vaults rotate Team", does: "asks first: every file is sent again" }],
  args: [VAULT] as const,
  run: async (context, _flags, [nameOrId]) => {
    const vaultId = await vaultIdOf(context.task, nameOrId);
    await context.confirm(`Encrypt everything in ${vaultId} again? Each file is read and sent once more.`);
    const rotation = await rotateVault(context, vaultId);
    return done({ vaultId, ...rotation }, rotationLines(rotation), {
      exit: exitOfActs(rotation.failed.length),
    });
  },
});
